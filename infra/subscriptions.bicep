// The second stage, after the code is live: storage events to the webhook of the blob trigger. Event Grid asks the
// webhook whether it is wanted, and its key does not exist before a host with that trigger has run. With
// eventsByQueue there is no second stage: see modules/events.bicep.
targetScope = 'resourceGroup'

@description('Name of the Function App: output APP_NAME of main.bicep.')
param appName string

@description('Name of the storage account\'s system topic: output SYSTEM_TOPIC_NAME of main.bicep.')
param systemTopicName string

@description('Name of the account with the drop zone: output STORAGE_NAME of main.bicep.')
param storageName string

resource app 'Microsoft.Web/sites@2024-11-01' existing = {
  name: appName
}

resource storage 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: storageName
}

resource systemTopic 'Microsoft.EventGrid/systemTopics@2025-02-15' existing = {
  name: systemTopicName
}

var key = listKeys('${app.id}/host/default', '2024-11-01').systemKeys.blobs_extension
var webhook = 'https://${app.properties.defaultHostName}/runtime/webhooks/blobs'

resource toBlobTrigger 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2025-02-15' = {
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
    destination: {
      endpointType: 'WebHook'
      properties: {
        endpointUrl: '${webhook}?functionName=Host.Functions.claim_document&code=${key}'
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
          blobContainerName: 'event-dead-letters'
        }
      }
    }
  }
}
