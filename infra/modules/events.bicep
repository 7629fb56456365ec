import { appRoles, deliveryRoles } from 'roles.bicep'

@description('The topic that events about jobs, documents and findings are published to.')
param topicName string

@description('The system topic of the storage account: what happens to its blobs.')
param systemTopicName string

@description('Where both are.')
param location string

@description('Tags of every resource.')
param tags object

@description('Whether the topic is reached through a private endpoint only.')
param isPrivate bool

@description('Whether storage events go to the queue: where Event Grid cannot reach the app, it must be so.')
param byQueue bool

@description('Who the app is.')
param principalId string

@description('The account with the drop zone.')
param storageName string

@description('The namespace with the queue for storage events.')
param busName string

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' existing = {
  parent: storage
  name: 'default'
}

resource deadLetters 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = {
  parent: blobs
  name: 'event-dead-letters'
}

resource bus 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: busName
}

resource storageEvents 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' existing = {
  parent: bus
  name: 'storage-events'
}

resource topic 'Microsoft.EventGrid/topics@2025-02-15' = {
  name: topicName
  location: location
  tags: tags
  properties: {
    inputSchema: 'CloudEventSchemaV1_0'
    disableLocalAuth: true
    minimumTlsVersionAllowed: '1.2'
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
  }
}

resource topicRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for each in appRoles.topic: {
    scope: topic
    name: guid(topic.id, principalId, each.role)
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', each.role)
      principalId: principalId
      principalType: 'ServicePrincipal'
      description: each.reason
    }
  }
]

resource systemTopic 'Microsoft.EventGrid/systemTopics@2025-02-15' = {
  name: systemTopicName
  location: location
  tags: tags
  identity: {
    type: 'SystemAssigned'
  }
  properties: {
    source: storage.id
    topicType: 'Microsoft.Storage.StorageAccounts'
  }
}

resource mayDeliver 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: storageEvents
  name: guid(storageEvents.id, systemTopic.id, deliveryRoles.storageEventsQueue)
  properties: {
    roleDefinitionId: subscriptionResourceId(
      'Microsoft.Authorization/roleDefinitions',
      deliveryRoles.storageEventsQueue
    )
    principalId: systemTopic.identity.principalId
    principalType: 'ServicePrincipal'
    description: 'Delivers storage events to the queue; nobody else may send there.'
  }
}

resource mayLeaveDeadLetters 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  scope: deadLetters
  name: guid(deadLetters.id, systemTopic.id, deliveryRoles.deadLetters)
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', deliveryRoles.deadLetters)
    principalId: systemTopic.identity.principalId
    principalType: 'ServicePrincipal'
    description: 'Leaves events that could not be delivered.'
  }
}

// Straight to the queue, by identity, in one stage. In a private network Event Grid cannot reach the app's webhook.
resource toQueue 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2025-02-15' = if (byQueue) {
  parent: systemTopic
  name: 'documents'
  properties: {
    eventDeliverySchema: 'EventGridSchema'
    filter: {
      includedEventTypes: [
        'Microsoft.Storage.BlobCreated'
      ]
      subjectBeginsWith: '/blobServices/default/containers/documents/'
    }
    retryPolicy: {
      maxDeliveryAttempts: 30
      eventTimeToLiveInMinutes: 1440
    }
    deliveryWithResourceIdentity: {
      identity: {
        type: 'SystemAssigned'
      }
      destination: {
        endpointType: 'ServiceBusQueue'
        properties: {
          resourceId: storageEvents.id
        }
      }
    }
    deadLetterWithResourceIdentity: {
      identity: {
        type: 'SystemAssigned'
      }
      deadLetterDestination: {
        endpointType: 'StorageBlob'
        properties: {
          resourceId: storage.id
          blobContainerName: deadLetters.name
        }
      }
    }
  }
  dependsOn: [
    mayDeliver
    mayLeaveDeadLetters
  ]
}

// Results of batches that lie in our own storage (deployments with `storage: own`): they end the wait of their jobs.
resource resultsToQueue 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2025-02-15' = {
  parent: systemTopic
  name: 'results'
  properties: {
    eventDeliverySchema: 'EventGridSchema'
    filter: {
      includedEventTypes: [
        'Microsoft.Storage.BlobCreated'
      ]
      subjectBeginsWith: '/blobServices/default/containers/jobs/blobs/_batches/'
      subjectEndsWith: 'results.jsonl'
    }
    retryPolicy: {
      maxDeliveryAttempts: 30
      eventTimeToLiveInMinutes: 1440
    }
    deliveryWithResourceIdentity: {
      identity: {
        type: 'SystemAssigned'
      }
      destination: {
        endpointType: 'ServiceBusQueue'
        properties: {
          resourceId: storageEvents.id
        }
      }
    }
    deadLetterWithResourceIdentity: {
      identity: {
        type: 'SystemAssigned'
      }
      deadLetterDestination: {
        endpointType: 'StorageBlob'
        properties: {
          resourceId: storage.id
          blobContainerName: deadLetters.name
        }
      }
    }
  }
  dependsOn: [
    mayDeliver
    mayLeaveDeadLetters
    // A system topic takes one change at a time.
    toQueue
  ]
}

output topicId string = topic.id
output topicEndpoint string = topic.properties.endpoint
output systemTopicId string = systemTopic.id
output systemTopicName string = systemTopic.name
