/** docker-compose.yml and its Dockerfile, read as Docker reads them. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { Yaml } from "effect/encoding"

const root = join(import.meta.dirname, "..", "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const Texts = Schema.Array(Schema.String)

const Service = Schema.Struct({
  image: Schema.String,
  build: Schema.optionalKey(Schema.Struct({ context: Schema.String, dockerfile: Schema.String })),
  command: Schema.optionalKey(Texts),
  environment: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  ports: Schema.optionalKey(Texts),
  volumes: Schema.optionalKey(Texts),
  tmpfs: Schema.optionalKey(Texts),
  read_only: Schema.optionalKey(Schema.Boolean),
  cap_drop: Schema.optionalKey(Texts),
  security_opt: Schema.optionalKey(Texts),
  networks: Schema.optionalKey(Schema.Struct({ default: Schema.Struct({ aliases: Texts }) })),
  depends_on: Schema.optionalKey(Schema.Unknown),
  stop_grace_period: Schema.optionalKey(Schema.String),
  profiles: Schema.optionalKey(Texts),
  healthcheck: Schema.optionalKey(Schema.Struct({ test: Texts })),
  restart: Schema.String
})

const Compose = Schema.Struct({ services: Schema.Record(Schema.String, Service) })

/** The services, with the variables in their places; a required one that is missing throws its words. */
export const composeServices = (
  variables: Readonly<Record<string, string>>
): typeof Compose.Type.services => {
  const text = read("docker-compose.yml").replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_, name: string, mark: string | undefined, words = "") => {
      const value = variables[name] ?? ""
      if (value !== "") return value
      if (mark === "?") throw new Error(`${name}: ${words}`)
      return words
    }
  )
  return Schema.decodeUnknownSync(Compose)(Yaml.parse(text)).services
}

/** An instruction of the Dockerfile's last stage or of an earlier one, and what follows it. */
export interface Instruction {
  /** From 0 on. */
  readonly stage: number
  readonly name: string
  readonly rest: string
}

export const dockerfile = (): ReadonlyArray<Instruction> => {
  let stage = -1
  return read("scripts/Dockerfile")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [name = "", ...words] = line.split(" ")
      if (name === "FROM") stage++
      return { stage, name, rest: words.join(" ") }
    })
}

/** Command and arguments in the form that runs without a shell; anything else throws. */
export const execForm = (text: string): ReadonlyArray<string> =>
  Schema.decodeUnknownSync(Schema.fromJsonString(Texts))(text)
