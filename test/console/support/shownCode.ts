/** The code that the playground shows, and its run as a reader would run it. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import type { Customer } from "../../support/gateway.ts"
import { byItsName } from "../../support/sources.ts"
import { type Page, steps } from "./browser.ts"

const cache = join(import.meta.dirname, "..", "..", "..", "node_modules", ".cache")

export const tabs = ["curl", "openai", "AI SDK", "media-gateway/client"] as const
type Tab = (typeof tabs)[number]

/** A folder for what the code writes, from which it finds the packages that it imports. */
export const codeFolder = Effect.acquireRelease(
  Effect.sync(() => {
    mkdirSync(cache, { recursive: true })
    return mkdtempSync(join(cache, "code-"))
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The code of a language as the page shows it. */
export const codeOf = (page: Page, tab: Tab) =>
  steps(async () => {
    const code = page.getByRole("button", { name: "Code", exact: true })
    if ((await code.getAttribute("aria-expanded")) === "false") await code.click()
    await page.getByRole("tab", { name: tab }).click()
    return (await page.getByLabel(`Code for ${tab}`).textContent()) ?? ""
  })

/** Runs the code of a tab with the customer's key; dies unless it ends well. */
export const runCode = (tab: Tab, code: string, folder: string, who: Customer) =>
  Effect.callback<string>((resume) => {
    const [command, args] =
      tab === "curl"
        ? ["bash", ["-euo", "pipefail", "-c", code]]
        : [process.execPath, [...byItsName, "--input-type=module", "-e", code]]
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, GATEWAY_KEY: who.key },
      stdio: ["ignore", "pipe", "pipe"]
    })
    const out: Array<string> = []
    child.stdout.on("data", (piece) => out.push(String(piece)))
    child.stderr.on("data", (piece) => out.push(String(piece)))
    child.once("close", (code) => {
      const text = out.join("")
      resume(code === 0 ? Effect.succeed(text) : Effect.die(new Error(`${code}: ${text}`)))
    })
  })
