@description('The role\'s name; unique in the directory.')
param roleName string

var here = resourceGroup().id

// `Cognitive Services OpenAI User` can create no batch, and `Contributor` could change deployments as well. These
// are the calls that the app makes: files up, down and away, batches created, read and cancelled.
resource role 'Microsoft.Authorization/roleDefinitions@2022-04-01' = {
  name: guid(here, roleName)
  properties: {
    roleName: roleName
    description: 'Creates, reads and cancels batches and their files, and nothing else.'
    type: 'CustomRole'
    assignableScopes: [here]
    permissions: [
      {
        actions: []
        notActions: []
        dataActions: [
          'Microsoft.CognitiveServices/accounts/OpenAI/batch-jobs/read'
          'Microsoft.CognitiveServices/accounts/OpenAI/batch-jobs/write'
          'Microsoft.CognitiveServices/accounts/OpenAI/batches/read'
          'Microsoft.CognitiveServices/accounts/OpenAI/batches/cancel/action'
          'Microsoft.CognitiveServices/accounts/OpenAI/files/read'
          'Microsoft.CognitiveServices/accounts/OpenAI/files/write'
          'Microsoft.CognitiveServices/accounts/OpenAI/files/delete'
        ]
        notDataActions: []
      }
    ]
  }
}

output id string = role.id
