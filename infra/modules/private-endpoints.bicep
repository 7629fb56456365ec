@description('Short name that every resource begins with.')
param prefix string

@description('Where they are.')
param location string

@description('Tags of every resource.')
param tags object

@description('Subnet in which they get their addresses.')
param subnetId string

@description('Zones by what they are for: blob, queue, table, bus, events, openai, cognitive and sites.')
param zoneIds object

param storageId string
param hostStorageId string
param busId string
param topicId string

@description('Empty for the app in containers.')
param appId string

param batchModelsId string

@description('Empty with a gateway in its place.')
param standardModelsId string

var modelZones = [
  zoneIds.openai
  zoneIds.cognitive
]

var always = [
  {
    name: 'state-blob'
    target: storageId
    group: 'blob'
    zones: [zoneIds.blob]
  }
  {
    name: 'state-queue'
    target: storageId
    group: 'queue'
    zones: [zoneIds.queue]
  }
  {
    name: 'state-table'
    target: storageId
    group: 'table'
    zones: [zoneIds.table]
  }
  {
    name: 'host-blob'
    target: hostStorageId
    group: 'blob'
    zones: [zoneIds.blob]
  }
  {
    name: 'host-queue'
    target: hostStorageId
    group: 'queue'
    zones: [zoneIds.queue]
  }
  {
    name: 'host-table'
    target: hostStorageId
    group: 'table'
    zones: [zoneIds.table]
  }
  {
    name: 'bus'
    target: busId
    group: 'namespace'
    zones: [zoneIds.bus]
  }
  {
    name: 'events'
    target: topicId
    group: 'topic'
    zones: [zoneIds.events]
  }
  {
    name: 'batch-models'
    target: batchModelsId
    group: 'account'
    zones: modelZones
  }
]

var app = {
  name: 'app'
  target: appId
  group: 'sites'
  zones: [zoneIds.sites]
}

var standardModels = {
  name: 'standard-models'
  target: standardModelsId
  group: 'account'
  zones: modelZones
}

module endpoint 'private-endpoint.bicep' = [
  for each in concat(always, empty(appId) ? [] : [app], empty(standardModelsId) ? [] : [standardModels]): {
    name: 'endpoint-${each.name}'
    params: {
      name: '${prefix}-${each.name}'
      location: location
      tags: tags
      subnetId: subnetId
      targetId: each.target
      groupId: each.group
      zoneIds: each.zones
    }
  }
]
