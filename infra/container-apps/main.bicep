targetScope = 'resourceGroup'

@description('Name of the container app.')
param name string = 'postern'

@description('Where it is.')
param location string = resourceGroup().location

@description('Resource id of the Container Apps environment.')
param environmentId string

@description('The image, with its registry and tag: REGISTRY.azurecr.io/postern:TAG.')
param image string

@description('Host name of the registry that the identity may pull from.')
param registryServer string

@description('Resource id of the app\'s user-assigned identity.')
param identityId string

@description('The app settings, as the output appSettings of the templates gives them. No secret is among them.')
param settings object

@description('The most replicas. They share every deployment\'s tokens per minute, so it follows from the catalogue: postern scale --write keeps it.')
@minValue(1)
@maxValue(1000)
param maxReplicas int = 5

@description('Whether the door can be reached from outside the environment. Scaling needs an ingress either way.')
param external bool = false

var ownSettings = {
  FUNCTIONS_WORKER_RUNTIME: 'python'
  POSTERN_MAX_INSTANCES: string(maxReplicas)
}

resource app 'Microsoft.App/containerApps@2026-01-01' = {
  name: name
  location: location
  kind: 'functionapp'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    environmentId: environmentId
    configuration: {
      activeRevisionsMode: 'Single'
      ingress: {
        external: external
        targetPort: 8080
        transport: 'auto'
        allowInsecure: false
      }
      registries: [
        {
          server: registryServer
          identity: identityId
        }
      ]
    }
    template: {
      terminationGracePeriodSeconds: 120
      containers: [
        {
          name: 'postern'
          image: image
          resources: {
            cpu: 1
            memory: '2Gi'
          }
          env: [
            for setting in items(union(settings, ownSettings)): {
              name: setting.key
              value: setting.value
            }
          ]
          probes: [
            {
              type: 'Startup'
              httpGet: {
                path: '/healthz'
                port: 8080
              }
              periodSeconds: 5
              failureThreshold: 36
            }
            {
              type: 'Liveness'
              httpGet: {
                path: '/healthz'
                port: 8080
              }
              periodSeconds: 20
              timeoutSeconds: 10
              failureThreshold: 3
            }
            {
              type: 'Readiness'
              httpGet: {
                path: '/readyz'
                port: 8080
              }
              periodSeconds: 15
              timeoutSeconds: 10
              failureThreshold: 2
            }
          ]
        }
      ]
      scale: {
        // One at least: timers and orchestrations in Azure Storage start no replica. The platform makes the
        // rules for the queues out of the triggers, so none stands here.
        minReplicas: 1
        maxReplicas: maxReplicas
      }
    }
  }
}

output host string = app.properties.configuration.ingress.fqdn
