targetScope = 'resourceGroup'

import { defaults } from 'modules/settings.bicep'
import { roles } from 'modules/roles.bicep'

@description('Short name that every resource begins with: lower-case letters and digits.')
@minLength(3)
@maxLength(11)
param prefix string

@description('Where everything is.')
param location string = resourceGroup().location

@description('Tags of every resource, such as the owner and the cost centre.')
param tags object = {}

@description('Everything behind private endpoints, nothing reachable from the Internet. For production.')
param isPrivate bool

@description('Whether callers may reach the app from the Internet although the rest is private.')
param isDoorPublic bool = !isPrivate

@description('Where the app runs: on Flex Consumption, or in containers (docs/deploy-kubernetes.md), which come after this.')
@allowed([
  'flex'
  'containers'
])
param host string = 'flex'

@description('OIDC issuer of the AKS cluster with the app, if there is one: its service accounts act as the app.')
param clusterIssuer string = ''

@description('Storage events come by queue, not to the app\'s webhook: for a private network, and for the app in containers.')
param eventsByQueue bool = isPrivate || host == 'containers'

@description('Address range of the network that isPrivate makes: a /24 or larger that no peer uses.')
param addressPrefix string = '10.90.0.0/24'

@description('Object id of whoever uploads the catalogue and runs the canary. Empty: nobody gets a role for that.')
param operatorId string = ''

@description('Kind of that principal.')
@allowed([
  'User'
  'Group'
  'ServicePrincipal'
])
param operatorType string = 'User'

@description('Audience of the Microsoft Entra tokens to accept, such as api://postern. Empty: only keys are accepted.')
param entraAudience string = ''

@description('Settings that the catalogue names, beyond the two endpoints. A key goes here as a Key Vault reference.')
param catalogSettings object = {}

@description('App settings that are to differ from their defaults (docs/reference/settings.md).')
param tuning object = {}

@description('Days that results are kept after a job has finished.')
@minValue(1)
param resultDays int = 90

@description('Days that an uploaded input is kept, whether a job has used it or not.')
@minValue(1)
param uploadDays int = 2

@description('Days for which deleted and replaced blobs can be brought back. Erased content lives on for as long.')
@minValue(2)
@maxValue(365)
param recoveryDays int = 14

@description('Days that logs are kept.')
@minValue(30)
@maxValue(730)
param logDays int = 90

@description('The most instances: they share each deployment\'s tokens per minute. The platform takes 40 to 1000.')
@minValue(40)
@maxValue(1000)
param maximumInstances int = 40

@description('Messages that an instance takes at once; the host multiplies them by its cores (2 with 4096 MB). Fewer than in host.json, because each of so many instances has a smaller part of the quota: postern scale --write keeps it.')
@minValue(1)
@maxValue(125)
param maxConcurrentCalls int = 16

@description('Memory of an instance in MB.')
@allowed([
  512
  2048
  4096
])
param instanceMemory int = 2048

@description('Instances for HTTP that are always there. 0: the first call of a quiet hour waits some seconds.')
@minValue(0)
param alwaysReadyForHttp int = 0

@description('Messaging units of Service Bus, where isPrivate takes its Premium tier.')
@allowed([
  1
  2
  4
  8
  16
])
param messagingUnits int = 1

@description('Batch deployments to make: name, model, version, sku (GlobalBatch or DataZoneBatch) and capacity of each.')
param batchDeployments array = []

@description('Standard deployments to make for the minutes lane; none are made with a gateway.')
param standardDeployments array = []

@description('Base URL of an API Management gateway that stands before the models. Empty: an account of our own is made.')
param gatewayEndpoint string = ''

@description('Scope of the tokens for models. A gateway that checks its own audience names it here.')
param modelScope string = 'https://cognitiveservices.azure.com/.default'

@description('Give the app Cognitive Services OpenAI Contributor, should the custom role for batches not be enough.')
param useBuiltInBatchRole bool = false

@description('Who is told of alerts, by e-mail.')
param alertEmails array = []

@description('Messages that may wait in the queue for an hour before that is worth an alert.')
param backlogThreshold int = 1000

@description('What a month may cost, in the currency of the subscription. 0: no budget.')
@minValue(0)
param monthlyBudget int = 0

@description('First day of a month, as 2026-12-01. A budget keeps the start that it was made with.')
param budgetStart string = ''

var unique = uniqueString(resourceGroup().id, prefix)
var name = '${prefix}-${unique}'
var hasGateway = !empty(gatewayEndpoint)
var loginEndpoint = environment().authentication.loginEndpoint

module identity 'modules/identity.bicep' = {
  name: 'identity'
  params: {
    name: '${prefix}-app'
    location: location
    tags: tags
    clusterIssuer: clusterIssuer
  }
}

module network 'modules/network.bicep' = if (isPrivate) {
  name: 'network'
  params: {
    prefix: prefix
    location: location
    tags: tags
    addressPrefix: addressPrefix
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  params: {
    name: take('${prefix}${unique}', 24)
    location: location
    tags: tags
    isPrivate: isPrivate
    principalId: identity.outputs.principalId
    operatorId: operatorId
    operatorType: operatorType
    resultDays: resultDays
    uploadDays: uploadDays
    recoveryDays: recoveryDays
  }
}

module hostStorage 'modules/host-storage.bicep' = {
  name: 'host-storage'
  params: {
    name: take('${prefix}h${unique}', 24)
    location: location
    tags: tags
    isPrivate: isPrivate
    principalId: identity.outputs.principalId
  }
}

module messaging 'modules/messaging.bicep' = {
  name: 'messaging'
  params: {
    name: name
    location: location
    tags: tags
    isPrivate: isPrivate
    principalId: identity.outputs.principalId
    hasScaler: !empty(clusterIssuer)
    messagingUnits: messagingUnits
  }
}

module events 'modules/events.bicep' = {
  name: 'events'
  params: {
    topicName: '${name}-events'
    systemTopicName: '${name}-storage'
    location: location
    tags: tags
    isPrivate: isPrivate
    byQueue: eventsByQueue
    principalId: identity.outputs.principalId
    storageName: storage.outputs.name
    busName: messaging.outputs.name
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  params: {
    prefix: prefix
    location: location
    tags: tags
    principalId: identity.outputs.principalId
    logDays: logDays
  }
}

module batchRole 'modules/batch-role.bicep' = {
  name: 'batch-role'
  params: {
    roleName: 'Postern batches (${name})'
  }
}

module batchModels 'modules/model-account.bicep' = {
  name: 'batch-models'
  params: {
    name: '${name}-batch'
    location: location
    tags: tags
    isPrivate: isPrivate
    principalId: identity.outputs.principalId
    roleDefinitionId: useBuiltInBatchRole
      ? subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.modelContributor)
      : batchRole.outputs.id
    deployments: batchDeployments
    workspaceId: monitoring.outputs.workspaceId
  }
}

module standardModels 'modules/model-account.bicep' = if (!hasGateway) {
  name: 'standard-models'
  params: {
    name: '${name}-standard'
    location: location
    tags: tags
    isPrivate: isPrivate
    principalId: identity.outputs.principalId
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', roles.modelUser)
    deployments: standardDeployments
    workspaceId: monitoring.outputs.workspaceId
  }
}

var ourSettings = {
  AzureWebJobsStorage__accountName: hostStorage.outputs.name
  AzureWebJobsStorage__credential: 'managedidentity'
  AzureWebJobsStorage__clientId: identity.outputs.clientId
  APPLICATIONINSIGHTS_CONNECTION_STRING: monitoring.outputs.connectionString
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identity.outputs.clientId};Authorization=AAD'
  POSTERN_CATALOG: '${storage.outputs.blobEndpoint}config/catalog.yaml'
  POSTERN_STORAGE__blobServiceUri: storage.outputs.blobEndpoint
  POSTERN_STORAGE__tableServiceUri: storage.outputs.tableEndpoint
  POSTERN_STORAGE__queueServiceUri: storage.outputs.queueEndpoint
  POSTERN_STORAGE__credential: 'managedidentity'
  POSTERN_STORAGE__clientId: identity.outputs.clientId
  ServiceBusConnection__fullyQualifiedNamespace: messaging.outputs.host
  ServiceBusConnection__credential: 'managedidentity'
  ServiceBusConnection__clientId: identity.outputs.clientId
  POSTERN_EVENTS_ENDPOINT: events.outputs.topicEndpoint
  POSTERN_RESULT_DAYS: string(resultDays)
  POSTERN_MAX_INSTANCES: string(maximumInstances)
  POSTERN_ENTRA_ISSUER: empty(entraAudience) ? '' : '${loginEndpoint}${tenant().tenantId}/v2.0'
  POSTERN_ENTRA_AUDIENCE: entraAudience
  POSTERN_OPENAI_SCOPE: modelScope
  // The catalogue names these two: endpoint: "${AZURE_OPENAI_BATCH_ENDPOINT}".
  AZURE_OPENAI_BATCH_ENDPOINT: batchModels.outputs.endpoint
  LLM_GATEWAY_ENDPOINT: hasGateway ? gatewayEndpoint : standardModels!.outputs.endpoint
}

// Containers take the figures of host.json, which are for fewer and so for larger parts of the quota.
var flexSettings = {
  AzureFunctionsJobHost__extensions__serviceBus__maxConcurrentCalls: string(maxConcurrentCalls)
}

var settings = union(defaults, ourSettings, host == 'flex' ? flexSettings : {}, catalogSettings, tuning)

module app 'modules/app.bicep' = if (host == 'flex') {
  name: 'app'
  params: {
    name: name
    location: location
    tags: tags
    isPrivate: isPrivate
    isDoorPublic: isDoorPublic
    identityId: identity.outputs.id
    subnetId: isPrivate ? network!.outputs.appSubnetId : ''
    packageUrl: hostStorage.outputs.packageUrl
    settings: settings
    maximumInstances: maximumInstances
    instanceMemory: instanceMemory
    alwaysReadyForHttp: alwaysReadyForHttp
  }
}

module endpoints 'modules/private-endpoints.bicep' = if (isPrivate) {
  name: 'endpoints'
  params: {
    prefix: prefix
    location: location
    tags: tags
    subnetId: network!.outputs.endpointSubnetId
    zoneIds: network!.outputs.zoneIds
    storageId: storage.outputs.id
    hostStorageId: hostStorage.outputs.id
    busId: messaging.outputs.id
    topicId: events.outputs.topicId
    appId: host == 'flex' ? app!.outputs.id : ''
    batchModelsId: batchModels.outputs.id
    standardModelsId: hasGateway ? '' : standardModels!.outputs.id
  }
}

module alerts 'modules/alerts.bicep' = {
  name: 'alerts'
  params: {
    prefix: prefix
    location: location
    tags: tags
    emails: alertEmails
    workspaceId: monitoring.outputs.workspaceId
    busId: messaging.outputs.id
    topicId: events.outputs.topicId
    systemTopicId: events.outputs.systemTopicId
    batchModelsId: batchModels.outputs.id
    principalId: identity.outputs.principalId
    backlogThreshold: backlogThreshold
  }
}

module costs 'modules/costs.bicep' = {
  name: 'costs'
  params: {
    prefix: prefix
    location: location
    tags: tags
    workspaceId: monitoring.outputs.workspaceId
    actionGroupId: alerts.outputs.actionGroupId
    monthlyBudget: monthlyBudget
    budgetStart: budgetStart
  }
}

@description('The app settings, for the app in containers. No secret is among them.')
output appSettings object = settings

// What the scripts of the later stages need to know. No secret is among it.
output AZURE_RESOURCE_GROUP string = resourceGroup().name
// Empty for the app in containers: its name and address are not made here.
output APP_NAME string = host == 'flex' ? app!.outputs.name : ''
output APP_URL string = host == 'flex' ? 'https://${app!.outputs.host}' : ''
output STORAGE_NAME string = storage.outputs.name
output SYSTEM_TOPIC_NAME string = events.outputs.systemTopicName
output BATCH_ACCOUNT_NAME string = batchModels.outputs.name
output APP_PRINCIPAL_ID string = identity.outputs.principalId
output EVENTS_BY_QUEUE bool = eventsByQueue
output BLOB_ENDPOINT string = storage.outputs.blobEndpoint
