@description('Name of the identity.')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

// Made before the app, so that every role is there when the app first starts.
resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

output id string = identity.id
output clientId string = identity.properties.clientId
output principalId string = identity.properties.principalId
