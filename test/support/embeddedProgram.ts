/** The embedded database's program, held for as long as this process lives. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }

/**
 * V8 compiles the functions of a program when they are first called, for all threads of a process at
 * once, and forgets them with the last module of that program. While this module is there, a database
 * that starts goes on with what those before it had compiled: a start takes a third of the time.
 * Being exported keeps it from the garbage collector.
 * @public
 */
export const embeddedProgram = new WebAssembly.Module(
  readFileSync(fileURLToPath(new URL("pglite.wasm", import.meta.resolve("@electric-sql/pglite"))))
)
