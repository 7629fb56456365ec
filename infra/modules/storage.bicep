import { appRoles, operatorRoles } from 'roles.bicep'

@description('The one account that holds everything large (blobs) and everything small (tables).')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Whether it is reached through private endpoints only.')
param isPrivate bool

@description('Who the app is.')
param principalId string

@description('Who uploads the catalogue and runs the canary. Empty: nobody gets a role for that.')
param operatorId string

@description('Kind of that principal: User, Group or ServicePrincipal.')
param operatorType string

@description('Days that results are kept after a job has finished: POSTERN_RESULT_DAYS says the same to tenants.')
@minValue(1)
param resultDays int

@description('Days that an uploaded input is kept, whether a job has used it or not.')
@minValue(1)
param uploadDays int

@description('Days for which deleted and replaced blobs can be brought back. Erased content lives on for as long.')
@minValue(2)
@maxValue(365)
param recoveryDays int

// What a job reads is older than what it writes at its end: it may lie for this much longer.
var longestJobDays = 7
var deadLetterDays = 30
// The sweep erases files after 30 days at the latest; this is for the day it does not run.
var fileDays = 35

var containers = [
  'config'
  'documents'
  'event-dead-letters'
  'files'
  'inputs'
  'jobs'
  'results'
  'uploads'
]

var tables = [
  'batches'
  'chunks'
  'cursors'
  'documentpaths'
  'documents'
  'filelapses'
  'files'
  'findings'
  'gathered'
  'idempotency'
  'jobs'
  'ledger'
  'opendocuments'
  'outbox'
  'pulses'
  'runs'
  'uploads'
]

var lapsing = [
  {
    name: 'jobs-lapse'
    prefix: 'jobs/'
    days: resultDays + longestJobDays
  }
  {
    name: 'results-lapse'
    prefix: 'results/'
    days: resultDays
  }
  {
    name: 'uploads-lapse'
    prefix: 'uploads/'
    days: uploadDays
  }
  {
    name: 'files-lapse'
    prefix: 'files/'
    days: fileDays
  }
  {
    name: 'dead-letters-lapse'
    prefix: 'event-dead-letters/'
    days: deadLetterDays
  }
]

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
      // Event Grid is one of them: it leaves its dead letters here.
      bypass: 'AzureServices'
    }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    isVersioningEnabled: true
    changeFeed: {
      enabled: true
    }
    deleteRetentionPolicy: {
      enabled: true
      days: recoveryDays
    }
    containerDeleteRetentionPolicy: {
      enabled: true
      days: recoveryDays
    }
    // To a point in time, all blobs at once. It must be shorter than what deleted blobs are kept for.
    restorePolicy: {
      enabled: true
      days: recoveryDays - 1
    }
  }
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = [
  for each in containers: {
    parent: blobs
    name: each
    properties: {
      publicAccess: 'None'
    }
  }
]

resource tableService 'Microsoft.Storage/storageAccounts/tableServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {}
}

resource table 'Microsoft.Storage/storageAccounts/tableServices/tables@2025-01-01' = [
  for each in tables: {
    parent: tableService
    name: each
  }
]

var lapsingRules = [
  for each in lapsing: {
    name: each.name
    enabled: true
    type: 'Lifecycle'
    definition: {
      actions: {
        baseBlob: {
          delete: {
            daysAfterModificationGreaterThan: each.days
          }
        }
      }
      filters: {
        blobTypes: [
          'blockBlob'
        ]
        prefixMatch: [
          each.prefix
        ]
      }
    }
  }
]

// Without this rule every version of every blob would stay for ever.
var oldVersionsLapse = {
  name: 'old-versions-lapse'
  enabled: true
  type: 'Lifecycle'
  definition: {
    actions: {
      version: {
        delete: {
          daysAfterCreationGreaterThan: recoveryDays
        }
      }
    }
    filters: {
      blobTypes: [
        'blockBlob'
      ]
    }
  }
}

resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    policy: {
      rules: concat(lapsingRules, [oldVersionsLapse])
    }
  }
}

resource appRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for each in appRoles.state: {
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

resource operatorContainer 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = [
  for each in operatorRoles: {
    parent: blobs
    name: each.container
  }
]

resource operatorRole 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, i) in operatorRoles: if (!empty(operatorId)) {
    scope: operatorContainer[i]
    name: guid(account.id, each.container, operatorId, each.role)
    properties: {
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', each.role)
      principalId: operatorId
      principalType: operatorType
      description: each.reason
    }
    dependsOn: [
      container
    ]
  }
]

output id string = account.id
output name string = account.name
output blobEndpoint string = account.properties.primaryEndpoints.blob
output tableEndpoint string = account.properties.primaryEndpoints.table
output queueEndpoint string = account.properties.primaryEndpoints.queue
