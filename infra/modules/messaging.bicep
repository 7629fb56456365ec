import { appRoles } from 'roles.bicep'

@description('The Service Bus namespace of the minutes lane.')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Whether it is reached through private endpoints only; that takes the Premium tier.')
param isPrivate bool

@description('Who the app is.')
param principalId string

@description('Whether KEDA scales the app by these queues, as the app\'s identity.')
param hasScaler bool

@description('Messaging units of the Premium tier: 1, 2, 4, 8 or 16.')
param messagingUnits int

var queues = [
  'documents'
  'storage-events'
]

resource bus 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: name
  location: location
  tags: tags
  sku: isPrivate
    ? {
        name: 'Premium'
        tier: 'Premium'
        capacity: messagingUnits
      }
    : {
        name: 'Standard'
        tier: 'Standard'
      }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
  }
}

resource rules 'Microsoft.ServiceBus/namespaces/networkRuleSets@2024-01-01' = if (isPrivate) {
  parent: bus
  name: 'default'
  properties: {
    publicNetworkAccess: 'Disabled'
    defaultAction: 'Deny'
    // Event Grid is one of them: it delivers storage events with its own identity.
    trustedServiceAccessEnabled: true
  }
}

resource queue 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [
  for each in queues: {
    parent: bus
    name: each
    properties: {
      // The longest there is. It is renewed while a document is worked on; a dead worker's message waits it out.
      lockDuration: 'PT5M'
      // What is not a document's fault is sent again for later, so a delivery is used up by a crash only.
      maxDeliveryCount: 5
      requiresDuplicateDetection: true
      duplicateDetectionHistoryTimeWindow: 'PT1H'
      deadLetteringOnMessageExpiration: true
    }
  }
]

resource documents 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' existing = {
  parent: bus
  name: 'documents'
}

resource storageEvents 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' existing = {
  parent: bus
  name: 'storage-events'
}

resource documentsRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for each in appRoles.documentsQueue: {
    scope: documents
    name: guid(documents.id, principalId, each.role)
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', each.role)
      principalId: principalId
      principalType: 'ServicePrincipal'
      description: each.reason
    }
    dependsOn: [
      queue
    ]
  }
]

resource storageEventsRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for each in appRoles.storageEventsQueue: {
    scope: storageEvents
    name: guid(storageEvents.id, principalId, each.role)
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', each.role)
      principalId: principalId
      principalType: 'ServicePrincipal'
      description: each.reason
    }
    dependsOn: [
      queue
    ]
  }
]

resource scalerRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, i) in queues: if (hasScaler) {
    scope: queue[i]
    name: guid(queue[i].id, principalId, appRoles.scaledQueues[0].role)
    properties: {
      roleDefinitionId: subscriptionResourceId(
        'Microsoft.Authorization/roleDefinitions',
        appRoles.scaledQueues[0].role
      )
      principalId: principalId
      principalType: 'ServicePrincipal'
      description: appRoles.scaledQueues[0].reason
    }
  }
]

output id string = bus.id
output name string = bus.name
output host string = '${bus.name}.servicebus.windows.net'
