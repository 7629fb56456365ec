import { appRoles } from 'roles.bicep'

@description('Short name that every resource begins with.')
param prefix string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Who the app is.')
param principalId string

@description('Days that logs are kept.')
@minValue(30)
@maxValue(730)
param logDays int

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: '${prefix}-logs'
  location: location
  tags: tags
  properties: {
    sku: {
      name: 'PerGB2018'
    }
    retentionInDays: logDays
    features: {
      disableLocalAuth: true
    }
  }
}

resource telemetry 'Microsoft.Insights/components@2020-02-02' = {
  name: '${prefix}-telemetry'
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    DisableLocalAuth: true
  }
}

resource appRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for each in appRoles.telemetry: {
    scope: telemetry
    name: guid(telemetry.id, principalId, each.role)
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', each.role)
      principalId: principalId
      principalType: 'ServicePrincipal'
      description: each.reason
    }
  }
]

output workspaceId string = workspace.id
// It says where to send; whether one may is the role's matter, as keys are refused.
output connectionString string = telemetry.properties.ConnectionString
