/**
 * Checks the version of Node.js. Where it is too old, prints the required version. This file and
 * the entry points may only use syntax that old versions can parse; the entry points load all other
 * files after the check.
 */

/** The minimum version of Node.js, equal to `engines` in the package's manifest. */
export const MIN_VERSION = [24, 9, 0]

/** The error message for a version that is too old; null for a supported version. */
export const tooOldMessage = (version: string): string | null => {
  const parts = version.split(".").map(Number)
  for (let index = 0; index < MIN_VERSION.length; index++) {
    const difference = Number(parts[index]) - Number(MIN_VERSION[index])
    if (difference > 0) return null
    if (difference < 0) {
      return `media-gateway needs Node.js ${MIN_VERSION.join(".")} or newer, and this is ${version}`
    }
  }
  return null
}

/**
 * Loads the program. Where this version of Node.js is too old, prints the message and ends the
 * process with exit code 1.
 */
export const startWith = (load: () => Promise<unknown>): void => {
  const reason = tooOldMessage(process.versions.node)
  if (reason === null) {
    void load()
    return
  }
  console.error(reason)
  process.exitCode = 1
}
