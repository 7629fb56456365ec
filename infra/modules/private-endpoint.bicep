@description('Name of the endpoint.')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Subnet in which it gets its address.')
param subnetId string

@description('What it leads to.')
param targetId string

@description('Which of the target\'s services: blob, queue, table, namespace, topic, account or sites.')
param groupId string

@description('Zones in which it is found.')
param zoneIds array

resource endpoint 'Microsoft.Network/privateEndpoints@2024-07-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: {
      id: subnetId
    }
    privateLinkServiceConnections: [
      {
        name: name
        properties: {
          privateLinkServiceId: targetId
          groupIds: [
            groupId
          ]
        }
      }
    ]
  }
}

resource names 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01' = {
  parent: endpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      for (each, i) in zoneIds: {
        name: 'zone${i}'
        properties: {
          privateDnsZoneId: each
        }
      }
    ]
  }
}
