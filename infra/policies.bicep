// A stage of its own, for whoever governs the subscription: batches are made in one place, by one identity.
// Without it everything works; with it nobody can open a side door, not even by mistake.
import { roles } from 'modules/roles.bicep'

targetScope = 'subscription'

@description('Resource group of Postern.')
param groupName string

@description('Name of the account for batches: output BATCH_ACCOUNT_NAME of main.bicep.')
param batchAccountName string

@description('The app\'s identity: output APP_PRINCIPAL_ID of main.bicep.')
param appPrincipalId string

@description('Deny, or only report: Audit.')
@allowed([
  'Audit'
  'Deny'
])
param effect string = 'Deny'

var groupId = '${subscription().id}/resourceGroups/${groupName}'
var batchAccount = '/accounts/${batchAccountName}'

var rules = [
  {
    name: 'postern-no-batches-elsewhere'
    title: 'Batch deployments are made on Postern\'s account only'
    rule: {
      if: {
        allOf: [
          {
            field: 'type'
            equals: 'Microsoft.CognitiveServices/accounts/deployments'
          }
          {
            field: 'Microsoft.CognitiveServices/accounts/deployments/sku.name'
            in: [
              'GlobalBatch'
              'DataZoneBatch'
            ]
          }
          {
            field: 'id'
            notContains: '${batchAccount}/'
          }
        ]
      }
      then: {
        effect: effect
      }
    }
  }
  {
    name: 'postern-no-keys'
    title: 'Postern\'s account for batches takes no keys'
    rule: {
      if: {
        allOf: [
          {
            field: 'type'
            equals: 'Microsoft.CognitiveServices/accounts'
          }
          {
            field: 'name'
            equals: batchAccountName
          }
          {
            field: 'Microsoft.CognitiveServices/accounts/disableLocalAuth'
            notEquals: true
          }
        ]
      }
      then: {
        effect: effect
      }
    }
  }
  {
    // A role on the resource group or the subscription reaches the account as well.
    name: 'postern-no-other-callers'
    title: 'Roles that may call models reach Postern\'s account for the app only'
    rule: {
      if: {
        allOf: [
          {
            field: 'type'
            equals: 'Microsoft.Authorization/roleAssignments'
          }
          {
            field: 'Microsoft.Authorization/roleAssignments/principalId'
            notEquals: appPrincipalId
          }
          {
            anyOf: [
              {
                field: 'Microsoft.Authorization/roleAssignments/roleDefinitionId'
                contains: roles.modelUser
              }
              {
                field: 'Microsoft.Authorization/roleAssignments/roleDefinitionId'
                contains: roles.modelContributor
              }
              {
                field: 'Microsoft.Authorization/roleAssignments/roleDefinitionId'
                contains: roles.cognitiveUser
              }
            ]
          }
          {
            anyOf: [
              {
                field: 'Microsoft.Authorization/roleAssignments/scope'
                equals: subscription().id
              }
              {
                field: 'Microsoft.Authorization/roleAssignments/scope'
                equals: groupId
              }
              {
                field: 'id'
                contains: batchAccount
              }
            ]
          }
        ]
      }
      then: {
        effect: effect
      }
    }
  }
]

resource definition 'Microsoft.Authorization/policyDefinitions@2023-04-01' = [
  for each in rules: {
    name: each.name
    properties: {
      displayName: each.title
      policyType: 'Custom'
      mode: 'All'
      policyRule: each.rule
    }
  }
]

resource assignment 'Microsoft.Authorization/policyAssignments@2023-04-01' = [
  for (each, i) in rules: {
    name: each.name
    properties: {
      displayName: each.title
      policyDefinitionId: definition[i].id
      nonComplianceMessages: [
        {
          message: '${each.title}.'
        }
      ]
    }
  }
]
