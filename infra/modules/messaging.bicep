@description('The Service Bus namespace of the minutes lane.')
param namespaceName string

@description('The topic that events about jobs, documents and findings are published to.')
param topicName string

@description('Where both are.')
param location string

var queues = [
  'documents'
  'storage-events'
]

resource bus 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: namespaceName
  location: location
  sku: {
    name: 'Standard'
    tier: 'Standard'
  }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
  }
}

resource queue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [
  for each in queues: {
    parent: bus
    name: each
    properties: {
      lockDuration: 'PT5M'
      maxDeliveryCount: 5
      requiresDuplicateDetection: true
      duplicateDetectionHistoryTimeWindow: 'PT1H'
      deadLetteringOnMessageExpiration: true
    }
  }
]

resource topic 'Microsoft.EventGrid/topics@2025-02-15' = {
  name: topicName
  location: location
  properties: {
    inputSchema: 'CloudEventSchemaV1_0'
    disableLocalAuth: true
    minimumTlsVersionAllowed: '1.2'
  }
}

output busHost string = '${namespaceName}.servicebus.windows.net'
output topicEndpoint string = topic.properties.endpoint
