@description('Short name that every resource begins with.')
param prefix string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Address range of the network: a /24 or larger that no peer uses.')
param addressPrefix string

var suffix = environment().suffixes.storage

@description('Zones in which private endpoints are found, by what they are for.')
var zones = [
  'privatelink.blob.${suffix}'
  'privatelink.queue.${suffix}'
  'privatelink.table.${suffix}'
  'privatelink.servicebus.windows.net'
  'privatelink.eventgrid.azure.net'
  'privatelink.openai.azure.com'
  'privatelink.cognitiveservices.azure.com'
  'privatelink.azurewebsites.net'
]

resource network 'Microsoft.Network/virtualNetworks@2024-07-01' = {
  name: '${prefix}-network'
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: [
        addressPrefix
      ]
    }
    subnets: [
      {
        name: 'app'
        properties: {
          // Half of the addresses: every instance needs one.
          addressPrefix: cidrSubnet(addressPrefix, 25, 0)
          delegations: [
            {
              name: 'flex'
              properties: {
                serviceName: 'Microsoft.App/environments'
              }
            }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 26, 2)
          privateEndpointNetworkPolicies: 'Disabled'
        }
      }
    ]
  }
}

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for each in zones: {
    name: each
    location: 'global'
    tags: tags
  }
]

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (each, i) in zones: {
    parent: zone[i]
    name: '${prefix}-network'
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: {
        id: network.id
      }
    }
  }
]

output appSubnetId string = '${network.id}/subnets/app'
output endpointSubnetId string = '${network.id}/subnets/endpoints'
output zoneIds object = {
  blob: zone[0].id
  queue: zone[1].id
  table: zone[2].id
  bus: zone[3].id
  events: zone[4].id
  openai: zone[5].id
  cognitive: zone[6].id
  sites: zone[7].id
}
