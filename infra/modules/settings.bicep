// Settings that have a default in the app (docs/reference/settings.md). They stand here with the very same value, so
// that what is in force can be seen in the portal and changed by the parameter `tuning`.

@description('App settings with their defaults. Numbers are texts, as the platform has them.')
@export()
var defaults = {
  // The host reads both schedules and knows no default.
  POSTERN_SWEEP_SCHEDULE: '0 */5 * * * *'
  POSTERN_GATHER_SCHEDULE: '0 * * * * *'
  POSTERN_POLL_SECONDS: '300'
  POSTERN_JOB_DEADLINE_HOURS: '30'
  POSTERN_STUCK_SECONDS: '900'
  POSTERN_MAX_ATTEMPTS: '3'
  POSTERN_CAPACITY_BACKOFF_SECONDS: '60'
  POSTERN_CAPACITY_BACKOFF_MAX_SECONDS: '3600'
  POSTERN_CREATE_TIMEOUT_SECONDS: '60'
  POSTERN_LAPSE_DAYS: '3'
  POSTERN_DOCUMENT_LEASE_SECONDS: '60'
  POSTERN_DOCUMENT_BACKOFF_SECONDS: '5'
  POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS: '300'
  POSTERN_DOCUMENT_PATIENCE_SECONDS: '21600'
  POSTERN_DOCUMENT_LATE_SECONDS: '3600'
  // Files of 200 MB and the form around them; the platform's own limit is 100 MB.
  FUNCTIONS_REQUEST_BODY_SIZE_LIMIT: '220200960'
}
