// The one map of roles: who may do what on which resource, and why. Nothing else names a role's id.

@description('Built-in roles by what they allow.')
@export()
var roles = {
  blobOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  blobContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
  blobReader: '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'
  queueContributor: '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
  tableContributor: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
  busSender: '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
  busReceiver: '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
  // Its Manage is what counting messages takes. It may delete the queue, too.
  busOwner: '090c5cfd-751d-490a-894a-3ce6f1109419'
  eventSender: 'd5a91429-5739-47e2-a06b-3470a27159e7'
  metricsPublisher: '3913510d-42f4-4e42-8a64-420c390055eb'
  modelUser: '5e0bd9bd-7b93-4f28-af87-19fc36ad61bd'
  modelContributor: 'a001fd3d-188f-4b5d-821b-7da978bf7442'
  // Nobody gets this one. It may call every model, so policies.bicep keeps it away from the batch account.
  cognitiveUser: 'a97b65f3-24c7-4388-baec-2e87135dc908'
}

@description('The app\'s identity, by resource. The role for batches is a custom one: see batch-role.bicep.')
@export()
var appRoles = {
  host: [
    {
      role: roles.blobOwner
      reason: 'The host leases blobs for its timers and triggers, and reads the app\'s package.'
    }
    {
      role: roles.queueContributor
      reason: 'Control and work-item queues of the durable hub.'
    }
    {
      role: roles.tableContributor
      reason: 'History and instances of the durable hub.'
    }
  ]
  state: [
    {
      role: roles.blobContributor
      reason: 'Reads documents and the catalogue, writes results, signs leave to upload on behalf of itself.'
    }
    {
      role: roles.tableContributor
      reason: 'Records, ledger, findings and outbox.'
    }
    {
      role: roles.queueContributor
      reason: 'The blob trigger keeps a queue of its own, and one for poison, in the account that it watches.'
    }
  ]
  documentsQueue: [
    {
      role: roles.busSender
      reason: 'Sends claim checks, and sends them again for later.'
    }
    {
      role: roles.busReceiver
      reason: 'Takes claim checks. Without Manage the platform scales out by one instance a step, not four.'
    }
  ]
  storageEventsQueue: [
    {
      role: roles.busReceiver
      reason: 'Takes what Event Grid delivers; only Event Grid may send there.'
    }
  ]
  scaledQueues: [
    {
      role: roles.busOwner
      reason: 'KEDA counts the messages of both queues with this identity. Only with a cluster.'
    }
  ]
  topic: [
    {
      role: roles.eventSender
      reason: 'Publishes events about jobs, documents and findings.'
    }
  ]
  telemetry: [
    {
      role: roles.metricsPublisher
      reason: 'Sends logs and metrics; keys are refused there.'
    }
  ]
}

@description('Event Grid\'s own identity, that of the system topic.')
@export()
var deliveryRoles = {
  storageEventsQueue: roles.busSender
  deadLetters: roles.blobContributor
}

@description('Whoever deploys and looks after Postern, by container.')
@export()
var operatorRoles = [
  {
    container: 'config'
    role: roles.blobContributor
    reason: 'Uploads the catalogue.'
  }
  {
    container: 'documents'
    role: roles.blobContributor
    reason: 'Drops the canary\'s document and takes it away again.'
  }
  {
    container: 'results'
    role: roles.blobReader
    reason: 'Reads what became of it.'
  }
]
