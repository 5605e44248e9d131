/** I11: the output of gateways contains no prompt, no key and no address of a result. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { open, type Verdict } from "./verdict.ts"

/** Searches the logs of all gateways for each secret, both unchanged and URL-encoded. */
export const judgeLogs = (directory: string, secrets: ReadonlyArray<string>): Verdict => {
  const docket = open("I11", "no prompt, key or result's address in any gateway's log")
  const logs = readdirSync(directory).filter((name) => /^gateway-.*\.log$/.test(name))
  for (const name of logs) {
    for (const [index, line] of readFileSync(join(directory, name), "utf8").split("\n").entries()) {
      const found = secrets.find(
        (secret) => line.includes(secret) || line.includes(encodeURIComponent(secret))
      )
      docket.look(
        found === undefined ? null : `${name}:${index + 1} holds ${found.slice(0, 12)}...`
      )
    }
  }
  return docket.verdict
}
