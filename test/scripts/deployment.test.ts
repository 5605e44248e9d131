/** The systemd unit, the Kubernetes manifest and the update of the composition. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Yaml } from "effect/encoding"

const root = join(import.meta.dirname, "..", "..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const Package = Schema.fromJsonString(
  Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    bin: Schema.Struct({ "media-gateway": Schema.String })
  })
)
const { name: packageName, version, bin } = Schema.decodeUnknownSync(Package)(read("package.json"))

/** The variables that the gateway and Node.js read. */
const variables = new Set(
  Array.from(
    read("src/config.ts").matchAll(/"((?:GATEWAY_|DATA)\w+|HOST|PORT)"/g),
    ([, name]) => name
  )
)
const SHUTDOWN_SECONDS = Number(
  /`GATEWAY_SHUTDOWN_SECONDS` \| `(\d+)`/.exec(read("src/operations/README.md"))?.[1]
)

describe("the systemd unit", () => {
  const entries = read("scripts/deployment/media-gateway.service")
    .split("\n")
    .filter((line) => line !== "" && !/^[#[]/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const)
  const valuesOf = (name: string) =>
    entries.filter(([key]) => key === name).map(([, value]) => value)

  it("runs the entry of the installed package, with variables that are read", () => {
    const [start = ""] = valuesOf("ExecStart")
    assert.isTrue(start.endsWith(`/node_modules/${packageName}/${bin["media-gateway"]}`), start)
    const names = valuesOf("Environment").map((assignment) => assignment.split("=")[0] ?? "")
    assert.includeMembers(names, ["DATA_DIR"])
    for (const name of names) {
      assert.isTrue(variables.has(name) || /^NODE_/.test(name), name)
    }
  })

  it("writes only where systemd lets it, as no user of the machine", () => {
    const [directory] = valuesOf("StateDirectory")
    assert.include(valuesOf("Environment"), `DATA_DIR=/var/lib/${directory}`)
    for (const [name, value] of [
      ["DynamicUser", "yes"],
      ["ProtectSystem", "strict"],
      ["NoNewPrivileges", "yes"],
      ["CapabilityBoundingSet", ""]
    ] as const) {
      assert.deepStrictEqual(valuesOf(name), [value], name)
    }
  })

  it("waits for open orders before it kills", () => {
    assert.isAbove(Number.parseInt(valuesOf("TimeoutStopSec")[0] ?? "", 10), SHUTDOWN_SECONDS)
  })
})

const Text = Schema.String
const Labels = Schema.Record(Text, Text)
const Selector = Schema.Struct({ matchLabels: Labels })
const Variable = Schema.Struct({
  name: Text,
  value: Schema.optionalKey(Text),
  valueFrom: Schema.optionalKey(
    Schema.Struct({ secretKeyRef: Schema.Struct({ name: Text, key: Text }) })
  )
})
const Probe = Schema.Struct({ httpGet: Schema.Struct({ path: Text, port: Text }) })
const Container = Schema.Struct({
  image: Text,
  args: Schema.optionalKey(Schema.Array(Text)),
  env: Schema.Array(Variable),
  securityContext: Schema.Struct({
    readOnlyRootFilesystem: Schema.Literal(true),
    allowPrivilegeEscalation: Schema.Literal(false),
    capabilities: Schema.Struct({ drop: Schema.Tuple([Schema.Literal("ALL")]) })
  }),
  volumeMounts: Schema.Array(Schema.Struct({ name: Text, mountPath: Text }))
})
const Deployment = Schema.Struct({
  kind: Schema.Literal("Deployment"),
  spec: Schema.Struct({
    replicas: Schema.Int.check(Schema.isGreaterThan(1)),
    selector: Selector,
    strategy: Schema.Struct({
      rollingUpdate: Schema.Struct({ maxUnavailable: Schema.Literal(0) })
    }),
    template: Schema.Struct({
      metadata: Schema.Struct({ labels: Labels, annotations: Labels }),
      spec: Schema.Struct({
        terminationGracePeriodSeconds: Schema.Int,
        securityContext: Schema.Struct({ runAsNonRoot: Schema.Literal(true) }),
        initContainers: Schema.Tuple([Container]),
        containers: Schema.Tuple([
          Schema.Struct({
            ...Container.fields,
            ports: Schema.Array(Schema.Struct({ name: Text, containerPort: Schema.Int })),
            startupProbe: Probe,
            livenessProbe: Probe,
            readinessProbe: Probe
          })
        ])
      })
    })
  })
})
const Budget = Schema.Struct({
  kind: Schema.Literal("PodDisruptionBudget"),
  spec: Schema.Struct({ minAvailable: Schema.Literal(1), selector: Selector })
})
const Service = Schema.Struct({
  kind: Schema.Literal("Service"),
  metadata: Schema.Struct({ name: Text }),
  spec: Schema.Struct({
    selector: Labels,
    ports: Schema.Tuple([Schema.Struct({ name: Text, port: Schema.Int, targetPort: Text })])
  })
})
const Ingress = Schema.Struct({
  kind: Schema.Literal("Ingress"),
  metadata: Schema.Struct({ annotations: Labels }),
  spec: Schema.Struct({
    rules: Schema.Tuple([
      Schema.Struct({
        http: Schema.Struct({
          paths: Schema.Array(
            Schema.Struct({
              path: Text,
              backend: Schema.Struct({
                service: Schema.Struct({
                  name: Text,
                  port: Schema.Struct({ name: Text })
                })
              })
            })
          )
        })
      })
    ])
  })
})

describe("the Kubernetes manifest", () => {
  const [deployment, budget, service, ingress] = Schema.decodeUnknownSync(
    Schema.Tuple([Deployment, Budget, Service, Ingress])
  )(
    read("scripts/deployment/kubernetes.yaml")
      .split(/^---$/m)
      .map((document) => Yaml.parse(document))
  )
  const pod = deployment.spec.template
  const [gateway] = pod.spec.containers
  const [migrate] = pod.spec.initContainers
  const portOf = (name: string) =>
    gateway.ports.find((port) => port.name === name)?.containerPort ?? assert.fail(name)
  const variableOf = (name: string) => gateway.env.find((variable) => variable.name === name)?.value

  it("selects its pods by their labels", () => {
    for (const labels of [
      deployment.spec.selector.matchLabels,
      budget.spec.selector.matchLabels,
      service.spec.selector
    ]) {
      assert.deepStrictEqual(labels, pod.metadata.labels)
    }
  })

  it("runs this version, migrated before, with variables that are read", () => {
    for (const { image, env } of [gateway, migrate]) {
      assert.strictEqual(image, `media-gateway:${version}`)
      for (const { name } of env) assert.isTrue(variables.has(name), name)
    }
    assert.deepStrictEqual(migrate.args, [bin["media-gateway"], "migrate"])
    assert.strictEqual(variableOf("GATEWAY_MIGRATE"), "0")
    const secrets = gateway.env.flatMap(({ name, valueFrom }) =>
      valueFrom === undefined ? [] : [[name, valueFrom.secretKeyRef.key]]
    )
    assert.deepStrictEqual(
      secrets,
      ["DATABASE_URL", "GATEWAY_MASTER_KEY", "GATEWAY_ADMIN_TOKEN"].map((name) => [name, name])
    )
  })

  it("writes into the mounted directory alone", () => {
    for (const { volumeMounts } of [gateway, migrate]) {
      assert.deepStrictEqual(
        volumeMounts.map(({ mountPath }) => mountPath),
        ["/tmp"]
      )
    }
  })

  it("asks whether a gateway lives and is ready, and waits for open orders", () => {
    assert.strictEqual(gateway.readinessProbe.httpGet.path, "/readyz")
    for (const probe of [gateway.livenessProbe, gateway.startupProbe]) {
      assert.strictEqual(probe.httpGet.path, "/healthz")
    }
    assert.isAbove(pod.spec.terminationGracePeriodSeconds, SHUTDOWN_SECONDS)
    assert.strictEqual(Number(variableOf("GATEWAY_METRICS_PORT")), portOf("metrics"))
    assert.strictEqual(Number(pod.metadata.annotations["prometheus.io/port"]), portOf("metrics"))
  })

  it("opens the clients' routes to the public, and none of the operators'", () => {
    const { paths } = ingress.spec.rules[0].http
    assert.deepStrictEqual(
      paths.map(({ path }) => path),
      ["/v1", "/openapi.json", "/docs"]
    )
    for (const { backend } of paths) {
      assert.deepStrictEqual(backend.service, {
        name: service.metadata.name,
        port: { name: service.spec.ports[0].name }
      })
    }
    assert.isTrue(gateway.ports.some(({ name }) => name === service.spec.ports[0].targetPort))
    assert.strictEqual(
      ingress.metadata.annotations["nginx.ingress.kubernetes.io/proxy-next-upstream"],
      "off"
    )
  })
})

/** Runs the update with a `docker` that records its arguments and fails where they match. */
const updateWith = async (failing: string) => {
  const folder = await mkdtemp(join(tmpdir(), "compose-"))
  try {
    const docker = join(folder, "docker")
    const log = join(folder, "calls")
    await writeFile(
      docker,
      `#!/bin/sh\necho "$*" >> ${log}\ncase "$*" in *"${failing}") exit 1;; esac\n`
    )
    await chmod(docker, 0o755)
    const run = promisify(execFile)(join(root, "scripts/deployment/compose-update.sh"), [], {
      env: { PATH: `${folder}:${process.env.PATH}` }
    })
    const succeeded = await run.then(
      () => true,
      () => false
    )
    return { succeeded, calls: (await readFile(log, "utf8")).trim().split("\n") }
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe("the update of the composition", () => {
  it("migrates, and replaces one gateway after the other has become ready", async () => {
    const { succeeded, calls } = await updateWith("nothing")
    assert.isTrue(succeeded)
    const up = "compose up --detach --no-deps --wait --wait-timeout 120"
    assert.deepStrictEqual(calls, [
      "compose build",
      "compose run --rm migrate",
      `${up} gateway-1`,
      `${up} gateway-2`,
      "compose up --detach"
    ])
  })

  it("leaves the second gateway as it is where the first does not become ready", async () => {
    const { succeeded, calls } = await updateWith("gateway-1")
    assert.isFalse(succeeded)
    assert.include(calls.at(-1), "gateway-1")
  })
})
