targetScope = 'resourceGroup'

@description('Short name that every resource begins with: lower-case letters and digits.')
@minLength(3)
@maxLength(11)
param prefix string

@description('Where everything is.')
param location string = resourceGroup().location

@description('URL of the catalogue, a blob that the app reads with its own identity.')
param catalogUrl string

@description('Days that results are kept after a job has finished.')
@minValue(1)
param resultDays int = 90

var unique = uniqueString(resourceGroup().id, prefix)

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: '${prefix}-app'
  location: location
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  params: {
    name: take('${prefix}${unique}', 24)
    location: location
    resultDays: resultDays
  }
}

module messaging 'modules/messaging.bicep' = {
  name: 'messaging'
  params: {
    namespaceName: '${prefix}-${unique}'
    topicName: '${prefix}-events'
    location: location
  }
}

@description('What the Function App needs in its settings to use what is made here. No secret is among it.')
output appSettings object = {
  POSTERN_CATALOG: catalogUrl
  POSTERN_STORAGE__blobServiceUri: storage.outputs.blobEndpoint
  POSTERN_STORAGE__tableServiceUri: storage.outputs.tableEndpoint
  POSTERN_STORAGE__queueServiceUri: storage.outputs.queueEndpoint
  POSTERN_STORAGE__credential: 'managedidentity'
  POSTERN_STORAGE__clientId: identity.properties.clientId
  POSTERN_EVENTS_ENDPOINT: messaging.outputs.topicEndpoint
  POSTERN_RESULT_DAYS: string(resultDays)
  POSTERN_SWEEP_SCHEDULE: '0 */5 * * * *'
  POSTERN_GATHER_SCHEDULE: '0 * * * * *'
  ServiceBusConnection__fullyQualifiedNamespace: messaging.outputs.busHost
  ServiceBusConnection__credential: 'managedidentity'
  ServiceBusConnection__clientId: identity.properties.clientId
}

output identityId string = identity.id
