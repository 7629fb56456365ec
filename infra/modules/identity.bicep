@description('Name of the identity.')
param name string

@description('Where it is.')
param location string

@description('Tags of every resource.')
param tags object

@description('OIDC issuer of an AKS cluster whose service accounts act as the app. Empty: there is none.')
param clusterIssuer string

// As the manifests in infra/kubernetes name them; the second one counts messages for KEDA.
var serviceAccounts = [
  {
    name: 'app'
    subject: 'system:serviceaccount:postern:postern'
  }
  {
    name: 'scaler'
    subject: 'system:serviceaccount:kube-system:keda-operator'
  }
]

// Made before the app, so that every role is there when the app first starts.
resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

// An identity takes one such change at a time.
@batchSize(1)
resource account 'Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials@2024-11-30' = [
  for each in serviceAccounts: if (!empty(clusterIssuer)) {
    parent: identity
    name: each.name
    properties: {
      issuer: clusterIssuer
      subject: each.subject
      audiences: ['api://AzureADTokenExchange']
    }
  }
]

output id string = identity.id
output clientId string = identity.properties.clientId
output principalId string = identity.properties.principalId
