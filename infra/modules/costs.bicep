@description('Short name that every resource begins with.')
param prefix string

@description('Where the workbook is.')
param location string

@description('Tags of every resource.')
param tags object

@description('Where the logs are.')
param workspaceId string

@description('Who is told.')
param actionGroupId string

@description('What a month may cost, in the currency of the subscription. 0: no budget.')
param monthlyBudget int

@description('First day of a month, as 2026-12-01.')
param budgetStart string

// Percent of the budget. Costs arrive hours late: this tells, it stops nothing.
var warnings = {
  half: {
    enabled: true
    operator: 'GreaterThanOrEqualTo'
    threshold: 50
    thresholdType: 'Actual'
    contactEmails: []
    contactGroups: [actionGroupId]
  }
  mostOfIt: {
    enabled: true
    operator: 'GreaterThanOrEqualTo'
    threshold: 80
    thresholdType: 'Actual'
    contactEmails: []
    contactGroups: [actionGroupId]
  }
  allOfIt: {
    enabled: true
    operator: 'GreaterThanOrEqualTo'
    threshold: 100
    thresholdType: 'Actual'
    contactEmails: []
    contactGroups: [actionGroupId]
  }
  expected: {
    enabled: true
    operator: 'GreaterThanOrEqualTo'
    threshold: 100
    thresholdType: 'Forecasted'
    contactEmails: []
    contactGroups: [actionGroupId]
  }
}

resource budget 'Microsoft.Consumption/budgets@2024-08-01' = if (monthlyBudget > 0) {
  name: '${prefix}-month'
  properties: {
    category: 'Cost'
    amount: monthlyBudget
    timeGrain: 'Monthly'
    timePeriod: {
      startDate: budgetStart
    }
    notifications: warnings
  }
}

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(resourceGroup().id, prefix, 'costs')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: '${prefix}: what was spent, by whom, for what'
    category: 'workbook'
    sourceId: workspaceId
    serializedData: loadTextContent('../workbooks/costs.json')
  }
}
