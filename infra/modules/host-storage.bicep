import { appRoles } from 'roles.bicep'

@description('The account of the Functions host: the durable hub, locks, the app\'s package.')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Whether it is reached through private endpoints only.')
param isPrivate bool

@description('Who the app is.')
param principalId string

var packages = 'app-package'

// An account of its own: the hub's traffic is heavy, and a hub that is reset must not touch our state.
resource account 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: {
    name: 'Standard_ZRS'
  }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
    networkAcls: {
      defaultAction: isPrivate ? 'Deny' : 'Allow'
      bypass: 'AzureServices'
    }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {}
}

resource package 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobs
  name: packages
  properties: {
    publicAccess: 'None'
  }
}

resource appRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for each in appRoles.host: {
    scope: account
    name: guid(account.id, principalId, each.role)
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', each.role)
      principalId: principalId
      principalType: 'ServicePrincipal'
      description: each.reason
    }
  }
]

output id string = account.id
output name string = account.name
output packageUrl string = '${account.properties.primaryEndpoints.blob}${package.name}'
