@description('Short name that every resource begins with.')
param prefix string

@description('Where they are.')
param location string

@description('Tags of every resource.')
param tags object

@description('Who is told, by e-mail.')
param emails array

@description('Where the logs are.')
param workspaceId string

param busId string
param topicId string
param systemTopicId string
param batchModelsId string

@description('The app\'s identity: whoever else calls the batch account came by the side door.')
param principalId string

@description('Messages that may wait in the queue for an hour.')
param backlogThreshold int

var sideDoor = replace(loadTextContent('../queries/side-door.kql'), '{principalId}', principalId)

// What each of them means and what to do: docs/operations.md. Severity: 0 critical, 1 error, 2 warning, 3 to know.
var fromLogs = [
  {
    name: 'side-door'
    severity: 0
    window: 'PT1H'
    frequency: 'PT15M'
    query: replace(sideDoor, '{accountId}', batchModelsId)
  }
  {
    name: 'cannot-work'
    severity: 0
    window: 'PT15M'
    frequency: 'PT5M'
    query: loadTextContent('../queries/cannot-work.kql')
  }
  {
    name: 'http-errors'
    severity: 1
    window: 'PT15M'
    frequency: 'PT5M'
    query: loadTextContent('../queries/http-errors.kql')
  }
  {
    name: 'orchestration-failures'
    severity: 1
    window: 'PT15M'
    frequency: 'PT5M'
    query: loadTextContent('../queries/orchestration-failures.kql')
  }
  {
    name: 'poison-blobs'
    severity: 1
    window: 'PT1H'
    frequency: 'PT15M'
    query: loadTextContent('../queries/poison-blobs.kql')
  }
  {
    name: 'late-jobs'
    severity: 2
    window: 'PT1H'
    frequency: 'PT15M'
    query: loadTextContent('../queries/late-jobs.kql')
  }
  {
    name: 'late-documents'
    severity: 2
    window: 'PT1H'
    frequency: 'PT15M'
    query: loadTextContent('../queries/late-documents.kql')
  }
  {
    name: 'findings'
    severity: 2
    window: 'PT1H'
    frequency: 'PT15M'
    query: loadTextContent('../queries/findings.kql')
  }
  {
    name: 'deployment-shut'
    severity: 3
    window: 'PT1H'
    frequency: 'PT15M'
    query: loadTextContent('../queries/deployment-shut.kql')
  }
]

var fromMetrics = [
  {
    name: 'dead-letters'
    severity: 1
    target: busId
    metric: 'DeadletteredMessages'
    aggregation: 'Maximum'
    threshold: 0
    window: 'PT15M'
    frequency: 'PT5M'
    dimension: 'EntityName'
  }
  {
    // There is no metric for a message's age. A queue that was never shorter than this for an hour comes close.
    name: 'queue-age'
    severity: 2
    target: busId
    metric: 'ActiveMessages'
    aggregation: 'Minimum'
    threshold: backlogThreshold
    window: 'PT1H'
    frequency: 'PT15M'
    dimension: 'EntityName'
  }
  {
    name: 'storage-event-dead-letters'
    severity: 1
    target: systemTopicId
    metric: 'DeadLetteredCount'
    aggregation: 'Total'
    threshold: 0
    window: 'PT15M'
    frequency: 'PT5M'
    dimension: 'EventSubscriptionName'
  }
  {
    name: 'storage-event-failures'
    severity: 3
    target: systemTopicId
    metric: 'DeliveryAttemptFailCount'
    aggregation: 'Total'
    threshold: 100
    window: 'PT1H'
    frequency: 'PT15M'
    dimension: 'EventSubscriptionName'
  }
  {
    name: 'event-publish-failures'
    severity: 2
    target: topicId
    metric: 'PublishFailCount'
    aggregation: 'Total'
    threshold: 0
    window: 'PT1H'
    frequency: 'PT15M'
    dimension: 'ErrorType'
  }
]

// What opens a side door: a role, a key, a change of the account or of its deployments.
var watched = [
  'Microsoft.Authorization/roleAssignments/write'
  'Microsoft.CognitiveServices/accounts/write'
  'Microsoft.CognitiveServices/accounts/listKeys/action'
  'Microsoft.CognitiveServices/accounts/deployments/write'
]

resource group 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: '${prefix}-alerts'
  location: 'global'
  tags: tags
  properties: {
    enabled: true
    groupShortName: take(prefix, 12)
    emailReceivers: [
      for (each, i) in emails: {
        name: 'mail${i}'
        emailAddress: each
        useCommonAlertSchema: true
      }
    ]
  }
}

resource logAlert 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [
  for each in fromLogs: {
    name: '${prefix}-${each.name}'
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: '${prefix}: ${each.name}'
      enabled: true
      severity: each.severity
      scopes: [
        workspaceId
      ]
      evaluationFrequency: each.frequency
      windowSize: each.window
      // The tables come into being with their first row.
      skipQueryValidation: true
      autoMitigate: true
      criteria: {
        allOf: [
          {
            query: each.query
            timeAggregation: 'Count'
            operator: 'GreaterThan'
            threshold: 0
          }
        ]
      }
      actions: {
        actionGroups: [
          group.id
        ]
      }
    }
  }
]

resource metricAlert 'Microsoft.Insights/metricAlerts@2018-03-01' = [
  for each in fromMetrics: {
    name: '${prefix}-${each.name}'
    location: 'global'
    tags: tags
    properties: {
      enabled: true
      severity: each.severity
      scopes: [
        each.target
      ]
      evaluationFrequency: each.frequency
      windowSize: each.window
      autoMitigate: true
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
        allOf: [
          {
            name: each.name
            criterionType: 'StaticThresholdCriterion'
            metricName: each.metric
            operator: 'GreaterThan'
            threshold: each.threshold
            timeAggregation: each.aggregation
            dimensions: [
              {
                name: each.dimension
                operator: 'Include'
                values: [
                  '*'
                ]
              }
            ]
          }
        ]
      }
      actions: [
        {
          actionGroupId: group.id
        }
      ]
    }
  }
]

resource changed 'Microsoft.Insights/activityLogAlerts@2020-10-01' = [
  for (each, i) in watched: {
    name: '${prefix}-batch-account-changed-${i}'
    location: 'global'
    tags: tags
    properties: {
      enabled: true
      description: 'Somebody did ${each} on the account for batches.'
      scopes: [
        batchModelsId
      ]
      condition: {
        allOf: [
          {
            field: 'category'
            equals: 'Administrative'
          }
          {
            field: 'operationName'
            equals: each
          }
        ]
      }
      actions: {
        actionGroups: [
          {
            actionGroupId: group.id
          }
        ]
      }
    }
  }
]

output actionGroupId string = group.id
