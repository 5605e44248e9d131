import { assert, describe, it } from "@effect/vitest"
import { files, imports, importsOf, loadedBy, sources, specifiersOf } from "./support/sources.ts"

interface Rule {
  /** Files the rule is for: the longest matching folder decides. */
  readonly folder: string
  readonly may: ReadonlyArray<string>
}

const ports = ["services/", "redaction/", "runtime/", "domain/"]
const contract = ["http/api/", "domain/", "services/Access.ts", "services/operators/Operators.ts"]

/** Features stand next to each other on one floor, each with the same below it. */
const features = [
  ...new Set(files.flatMap((file) => /^features\/[^/]+\//.exec(file)?.slice(0, 1) ?? []))
]

const rules: ReadonlyArray<Rule> = [
  { folder: "domain/", may: [] },
  { folder: "simulator/", may: ["domain/", "nodeVersion.ts"] },
  { folder: "runtime/", may: ["domain/"] },
  { folder: "redaction/", may: ["domain/"] },
  { folder: "services/", may: ["redaction/", "runtime/", "domain/"] },
  { folder: "egress/", may: ports },
  { folder: "channels/", may: ["egress/", ...ports] },
  { folder: "adapters/", may: ports },
  { folder: "postgres/", may: ports },
  { folder: "orders/", may: ["channels/", ...ports] },
  { folder: "polling/", may: ["channels/", ...ports] },
  { folder: "operations/", may: ["channels/", ...ports] },
  { folder: "http/", may: ["channels/", "orders/", "polling/", "egress/", ...ports] },
  {
    folder: "http/api/",
    may: ["services/Access.ts", "services/operators/Operators.ts", "domain/"]
  },
  ...features.map((folder) => ({
    folder,
    may: [
      "http/",
      "orders/",
      "polling/",
      "operations/",
      "channels/",
      "postgres/",
      "egress/",
      ...ports
    ]
  })),
  { folder: "contract/", may: ["features/", ...contract] },
  { folder: "client/", may: ["contract/", "http/api/", "domain/"] },
  { folder: "ai-sdk/", may: [] },
  {
    folder: "console/",
    may: ["client/", "contract/", "features/", "runtime/texts/csvText.ts", ...contract]
  },
  {
    folder: "cli/",
    may: [
      "postgres/",
      "features/",
      "contract/",
      "http/api/",
      "client/",
      "simulator/",
      "adapters/queue/",
      ...ports,
      "config.ts",
      "crypto.ts",
      "launch.ts",
      "nodeVersion.ts",
      "program.ts",
      "run.ts",
      "secrets.ts",
      "version.ts"
    ]
  },
  {
    folder: "testing/",
    may: [
      "channels/",
      "orders/",
      "polling/",
      "adapters/",
      "http/",
      "simulator/",
      "operations/",
      "egress/",
      "features/",
      "contract/",
      ...ports,
      "gateway.ts",
      "crypto.ts",
      "demoCatalog.ts"
    ]
  }
]

const ruleOf = (file: string): Rule | undefined =>
  rules
    .filter(({ folder }) => file.startsWith(folder))
    .reduce<Rule | undefined>(
      (best, rule) => (best === undefined || rule.folder.length > best.folder.length ? rule : best),
      undefined
    )

const isTopLevel = (file: string) => !file.includes("/")

/** The first cycle met when imports are followed from every file; null when there is none. */
const findCycle = (
  graph: ReadonlyMap<string, ReadonlyArray<string>>
): ReadonlyArray<string> | null => {
  const done = new Set<string>()
  const visit = (file: string, path: ReadonlyArray<string>): ReadonlyArray<string> | null => {
    const start = path.indexOf(file)
    if (start >= 0) return [...path.slice(start), file]
    if (done.has(file)) return null
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...path, file])
      if (cycle !== null) return cycle
    }
    done.add(file)
    return null
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, [])
    if (cycle !== null) return cycle
  }
  return null
}

describe("the sources", () => {
  it("are found, and so are their imports", () => {
    assert.includeMembers(files, ["main.ts", "domain/money/Money.ts", "contract/GatewayApi.ts"])
    assert.includeMembers(
      [...importsOf("domain/video/VideoSku.ts")],
      ["domain/Errors.ts", "domain/video/VideoProtocol.ts", "domain/video/VideoInput.ts"]
    )
  })

  it("import only files that exist", () => {
    const missing = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => /\.tsx?$/.test(target) && !sources.has(target))
        .map((target) => `${file} -> ${target}`)
    )
    assert.deepStrictEqual(missing, [])
  })

  it("each live in a folder whose direction is stated, or at the top", () => {
    assert.deepStrictEqual(
      files.filter((file) => !isTopLevel(file) && ruleOf(file) === undefined),
      []
    )
  })

  it("do not import each other in a circle", () => {
    assert.strictEqual(findCycle(imports)?.join(" -> "), undefined)
  })
})

describe.each(rules)("$folder", ({ folder, may }) => {
  it(`imports nothing of ours but itself${may.map((other) => `, ${other}`).join("")}`, () => {
    const strays = files
      .filter((file) => ruleOf(file)?.folder === folder)
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => ![folder, ...may].some((allowed) => target.startsWith(allowed)))
          .map((target) => `${file} -> ${target}`)
      )
    assert.deepStrictEqual(strays, [])
  })
})

describe("the domain", () => {
  it("knows no package but effect", () => {
    const strays = files
      .filter((file) => file.startsWith("domain/"))
      .flatMap((file) =>
        specifiersOf(file)
          .filter((specifier) => !/^(?:\.|effect$|effect\/net$)/.test(specifier))
          .map((specifier) => `${file} -> ${specifier}`)
      )
    assert.deepStrictEqual(strays, [])
  })
})

/** The files that state what clients send and read, and those that they are made of. */
const isOfContract = (file: string): boolean =>
  /^(?:http\/api|contract)\//.test(file) || /^features\/.*Api\.ts$/.test(file)

/** Everything that a file brings with it. */
const reachedFrom = (start: ReadonlyArray<string>): ReadonlySet<string> => {
  const reached = new Set(start)
  for (const file of reached) for (const target of loadedBy(file)) reached.add(target)
  return reached
}

describe("the contract", () => {
  it("brings no server code to those who import it", () => {
    const server = /\b(?:HttpApiBuilder|HttpRouter|HttpServer\w*|HttpMiddleware)\b/
    const strays = [...reachedFrom(files.filter(isOfContract))].filter(
      (file) =>
        server.test(sources.get(file) ?? "") ||
        specifiersOf(file).some((specifier) => !/^(?:\.|effect)/.test(specifier))
    )
    assert.deepStrictEqual(strays, [])
  })
})

describe("the provider of the AI SDK", () => {
  it("knows the packages of the AI SDK alone, as pages import it", () => {
    const strays = files
      .filter((file) => file.startsWith("ai-sdk/"))
      .flatMap((file) =>
        specifiersOf(file)
          .filter((specifier) => !/^(?:\.|@ai-sdk\/|zod\/v4$)/.test(specifier))
          .map((specifier) => `${file} -> ${specifier}`)
      )
    assert.deepStrictEqual(strays, [])
  })
})

describe("the test doubles", () => {
  it("are imported by nothing the gateway is made of", () => {
    const strays = files
      .filter((file) => !file.startsWith("testing/"))
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => target.startsWith("testing/"))
          .map((target) => `${file} -> ${target}`)
      )
    assert.deepStrictEqual(strays, [])
  })
})

describe("a circle of imports", () => {
  it("is reported with every file on it", () => {
    const graph = new Map([
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", []],
      ["d", ["b"]]
    ])
    assert.deepStrictEqual(findCycle(graph), ["b", "d", "b"])
  })
})
