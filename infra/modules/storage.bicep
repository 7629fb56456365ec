@description('The one account that holds everything large (blobs) and everything small (tables).')
param name string

@description('Where it is.')
param location string

@description('Days that results are kept after a job has finished: POSTERN_RESULT_DAYS says the same to tenants.')
@minValue(1)
param resultDays int

@description('Days that an uploaded input is kept, whether a job has used it or not.')
@minValue(1)
param uploadDays int = 2

var containers = [
  'documents'
  'files'
  'inputs'
  'jobs'
  'results'
  'uploads'
]

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: name
  location: location
  kind: 'StorageV2'
  sku: {
    name: 'Standard_ZRS'
  }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowSharedKeyAccess: false
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    deleteRetentionPolicy: {
      enabled: true
      days: 7
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

resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    policy: {
      rules: [
        {
          name: 'results-lapse'
          enabled: true
          type: 'Lifecycle'
          definition: {
            actions: {
              baseBlob: {
                delete: {
                  daysAfterModificationGreaterThan: resultDays
                }
              }
            }
            filters: {
              blobTypes: [
                'blockBlob'
              ]
              prefixMatch: [
                'jobs/'
                'results/'
              ]
            }
          }
        }
        {
          name: 'uploads-lapse'
          enabled: true
          type: 'Lifecycle'
          definition: {
            actions: {
              baseBlob: {
                delete: {
                  daysAfterModificationGreaterThan: uploadDays
                }
              }
            }
            filters: {
              blobTypes: [
                'blockBlob'
              ]
              prefixMatch: [
                'uploads/'
              ]
            }
          }
        }
      ]
    }
  }
}

output blobEndpoint string = account.properties.primaryEndpoints.blob
output tableEndpoint string = account.properties.primaryEndpoints.table
output queueEndpoint string = account.properties.primaryEndpoints.queue
