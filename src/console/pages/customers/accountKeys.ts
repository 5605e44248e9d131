/** The cache keys of accounts. */
export const organizationsKey = ["organizations"] as const
export const membersKey = ["members"] as const
export const keysKey = ["keys"] as const
export const operatorsKey = ["operators"] as const
export const auditKey = ["audit"] as const

/** The number of entries on a page of a list. */
export const PAGE = 20
export const enabledStates = ["enabled", "disabled"] as const
