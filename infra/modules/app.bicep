@description('Name of the Function App, and of its address.')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Whether it reaches everything else through the network.')
param isPrivate bool

@description('Whether callers reach it from the Internet.')
param isDoorPublic bool

@description('The app\'s identity.')
param identityId string

@description('Subnet through which it goes out; used if isPrivate.')
param subnetId string

@description('Container of the package: its full URL.')
param packageUrl string

@description('App settings, all of them.')
param settings object

@description('The most instances. POSTERN_MAX_INSTANCES says the same.')
param maximumInstances int

@description('Memory of an instance in MB.')
@allowed([
  512
  2048
  4096
])
param instanceMemory int

@description('Instances for HTTP that are always there. 0: the first call of a quiet hour waits some seconds.')
param alwaysReadyForHttp int

var alwaysReadyDurable = {
  name: 'durable'
  instanceCount: 1
}
var alwaysReadyHttp = {
  name: 'http'
  instanceCount: alwaysReadyForHttp
}

resource plan 'Microsoft.Web/serverfarms@2024-11-01' = {
  name: '${name}-plan'
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
  }
}

resource app 'Microsoft.Web/sites@2024-11-01' = {
  name: name
  location: location
  tags: union(tags, { 'azd-service-name': 'app' })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    publicNetworkAccess: isDoorPublic ? 'Enabled' : 'Disabled'
    virtualNetworkSubnetId: isPrivate ? subnetId : null
    // For settings that refer to a Key Vault, such as another provider's key.
    keyVaultReferenceIdentity: identityId
    siteConfig: {
      minTlsVersion: '1.2'
      ftpsState: 'Disabled'
    }
    functionAppConfig: {
      runtime: {
        name: 'python'
        version: '3.13'
      }
      deployment: {
        storage: {
          type: 'blobContainer'
          value: packageUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      scaleAndConcurrency: {
        maximumInstanceCount: maximumInstances
        instanceMemoryMB: instanceMemory
        // A hub on a storage account is not scaled from nothing fast enough for timers.
        alwaysReady: alwaysReadyForHttp > 0 ? [alwaysReadyDurable, alwaysReadyHttp] : [alwaysReadyDurable]
        triggers: {
          http: {
            // Python's default is 1: every parallel call would start an instance.
            perInstanceConcurrency: 16
          }
        }
      }
    }
  }
}

resource appSettings 'Microsoft.Web/sites/config@2024-11-01' = {
  parent: app
  name: 'appsettings'
  properties: settings
}

// Publishing goes by identity as well.
resource noPassword 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-11-01' = [
  for each in ['ftp', 'scm']: {
    parent: app
    name: each
    properties: {
      allow: false
    }
  }
]

output id string = app.id
output name string = app.name
output host string = app.properties.defaultHostName
