/**
 * Says which Node.js is needed where this one is too old. Only syntax that old ones can read stands
 * here and in the entries, which load the rest afterwards.
 */

/** The least version, as `engines` of the package has it. */
export const MIN_VERSION = [24, 9, 0]

/** One line for a Node.js that is too old; null for one that fits. */
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

/** Loads the program, unless this Node.js is too old for it: then the process ends with 1. */
export const startWith = (load: () => Promise<unknown>): void => {
  const reason = tooOldMessage(process.versions.node)
  if (reason === null) {
    void load()
    return
  }
  console.error(reason)
  process.exitCode = 1
}
