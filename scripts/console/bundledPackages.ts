/** The packages of which modules are in the console's bundle, by the bundler's own list. */
import { join, relative } from "node:path"
import { build } from "vite"

const root = join(import.meta.dirname, "..", "..")

/** The folder of the innermost package that has a module. */
const packageFolder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/

/** Builds the console without writing it. The packages are named by their folders, as in a lockfile. */
export const bundledPackages = async (): Promise<ReadonlySet<string>> => {
  const folders = new Set<string>()
  // Development code is of other modules.
  process.env.NODE_ENV = "production"
  await build({
    configFile: join(import.meta.dirname, "viteConfig.ts"),
    logLevel: "warn",
    build: { write: false },
    plugins: [
      {
        name: "bundled packages",
        buildEnd() {
          for (const id of this.getModuleIds()) {
            const path = relative(root, id.replaceAll("\0", ""))
            const [folder] = packageFolder.exec(path) ?? []
            if (folder !== undefined) folders.add(folder)
          }
        }
      }
    ]
  })
  return folders
}
