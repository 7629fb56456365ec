@description('Name of the Azure OpenAI account, and of its endpoint.')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Whether it is reached through a private endpoint only.')
param isPrivate bool

@description('Who the app is: nobody else gets a role here.')
param principalId string

@description('Full id of the role that the app gets.')
param roleDefinitionId string

@description('Models to deploy: name, model, version, sku and capacity of each.')
param deployments array

@description('Where its calls are logged, with who made them.')
param workspaceId string

resource account 'Microsoft.CognitiveServices/accounts@2025-06-01' = {
  name: name
  location: location
  tags: tags
  kind: 'OpenAI'
  sku: {
    name: 'S0'
  }
  properties: {
    // A token is issued for a name of its own only.
    customSubDomainName: name
    disableLocalAuth: true
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
    networkAcls: {
      defaultAction: isPrivate ? 'Deny' : 'Allow'
      bypass: 'None'
    }
  }
}

// One after the other: an account takes one change at a time.
@batchSize(1)
resource deployment 'Microsoft.CognitiveServices/accounts/deployments@2025-06-01' = [
  for each in deployments: {
    parent: account
    name: each.name
    sku: {
      name: each.sku
      capacity: each.capacity
    }
    properties: {
      model: {
        format: 'OpenAI'
        name: each.model
        version: each.version
      }
      // A request's key counts the model in: it must not change under a job.
      versionUpgradeOption: 'NoAutoUpgrade'
    }
  }
]

resource role 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: account
  name: guid(account.id, principalId, roleDefinitionId)
  properties: {
    roleDefinitionId: roleDefinitionId
    principalId: principalId
    principalType: 'ServicePrincipal'
    description: 'Postern calls this account, and nobody else does.'
  }
}

resource logs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  scope: account
  name: 'callers'
  properties: {
    workspaceId: workspaceId
    logs: [
      {
        category: 'Audit'
        enabled: true
      }
      {
        category: 'RequestResponse'
        enabled: true
      }
    ]
  }
}

output id string = account.id
output name string = account.name
output endpoint string = account.properties.endpoint
