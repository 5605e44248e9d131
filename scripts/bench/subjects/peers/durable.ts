/**
 * The minimum cost of a durable ledger on Node: the bare proxy with one hold before the vendor is
 * called and its capture before the response is sent, both committed in PostgreSQL. A video's hold
 * also inserts its task, and the commit before the response records that the vendor accepted the
 * task. The ledger consists of the tables below: no keys, no limits, no usage records, no log. All
 * waiting writes go in one call, as in our gateway. The package `pg` is in the scratch folder.
 */
import { randomUUID } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Pool } from "undici"
import { port, renamed, vendorHeaders, vendorPath, vendorUrl } from "./forwarding.ts"

/**
 * The part of the package that is used here; the package is not installed where types are checked.
 */
interface Connection {
  connect(): Promise<void>
  query(text: string): Promise<unknown>
  query(
    prepared: { readonly name: string; readonly text: string; readonly values: Array<unknown> },
    done: (failure: Error | null) => void
  ): void
}

const load = createRequire(join(process.env.BENCH_SCRATCH ?? "", "package.json"))
const { Client }: { readonly Client: new (url: string) => Connection } = load("pg")

const books = new Client(process.env.DATABASE_URL ?? "")
await books.connect()
// Rows are looked up one by one by key, as in our gateway: otherwise the query plan becomes worse
// as the tables grow.
await books.query(`
  CREATE TABLE pool (id int PRIMARY KEY, balance bigint, held bigint) WITH (fillfactor = 20);
  INSERT INTO pool VALUES (1, 1000000000000000000, 0);
  CREATE TABLE hold (id text PRIMARY KEY, amount bigint, state text DEFAULT 'open',
                     created_at timestamptz DEFAULT now()) WITH (fillfactor = 70);
  CREATE TABLE transfer (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hold_id text,
                         amount bigint, created_at timestamptz DEFAULT now());
  CREATE TABLE task (id text PRIMARY KEY, upstream_id text, state text DEFAULT 'submitting',
                     created_at timestamptz DEFAULT now()) WITH (fillfactor = 70);
  CREATE FUNCTION move(p_closes text[], p_charges bigint[], p_holds text[], p_amounts bigint[],
                       p_tasks text[], p_accepts text[], p_upstream text[])
  RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
  AS $$
  DECLARE v_rows tid[]; v_charged bigint := 0; v_held bigint := 0;
  BEGIN
    IF cardinality(p_closes) > 0 THEN
      SELECT array_agg((SELECT h.ctid FROM hold h WHERE h.id = u.id)), sum(u.charge)
        INTO v_rows, v_charged FROM unnest(p_closes, p_charges) AS u(id, charge);
      UPDATE hold h SET state = 'captured' FROM unnest(v_rows) AS u(place) WHERE h.ctid = u.place;
      INSERT INTO transfer (hold_id, amount) SELECT * FROM unnest(p_closes, p_charges);
    END IF;
    IF cardinality(p_holds) > 0 THEN
      INSERT INTO hold (id, amount) SELECT * FROM unnest(p_holds, p_amounts);
      SELECT sum(amount) INTO v_held FROM unnest(p_amounts) AS amount;
    END IF;
    IF cardinality(p_tasks) > 0 THEN INSERT INTO task (id) SELECT * FROM unnest(p_tasks); END IF;
    IF cardinality(p_accepts) > 0 THEN
      SELECT array_agg((SELECT t.ctid FROM task t WHERE t.id = u.id))
        INTO v_rows FROM unnest(p_accepts) AS u(id);
      UPDATE task t SET state = 'processing', upstream_id = u.upstream
        FROM unnest(v_rows, p_upstream) AS u(place, upstream) WHERE t.ctid = u.place;
    END IF;
    IF cardinality(p_closes) = 0 AND cardinality(p_holds) = 0 THEN RETURN; END IF;
    UPDATE pool SET held = held + v_held - v_charged, balance = balance - v_charged WHERE id = 1;
  END $$`)

interface Movement {
  readonly kind: "hold" | "hold with task" | "capture" | "accept"
  readonly id: string
  /** The vendor's id of an accepted task. */
  readonly upstreamId: string
  readonly done: () => void
}

const AMOUNT = "200000000"
const waiting: Array<Movement> = []
let isCalling = false

const callNext = (): void => {
  if (isCalling || waiting.length === 0) return
  isCalling = true
  const taken = waiting.splice(0)
  const of = (...kinds: ReadonlyArray<Movement["kind"]>) =>
    taken.filter(({ kind }) => kinds.includes(kind))
  const idsOf = (movements: ReadonlyArray<Movement>) => movements.map(({ id }) => id)
  const amountsOf = (movements: ReadonlyArray<Movement>) => movements.map(() => AMOUNT)
  const [captures, holds, accepts] = [of("capture"), of("hold", "hold with task"), of("accept")]
  const values = [
    idsOf(captures),
    amountsOf(captures),
    idsOf(holds),
    amountsOf(holds),
    idsOf(of("hold with task")),
    idsOf(accepts),
    accepts.map((one) => one.upstreamId)
  ]
  const text = "SELECT move($1, $2, $3, $4, $5, $6, $7)"
  books.query({ name: "move", text, values }, (failure) => {
    if (failure !== null) throw failure
    isCalling = false
    callNext()
    for (const { done } of taken) done()
  })
}

const move = (movement: Movement): void => {
  waiting.push(movement)
  queueMicrotask(callNext)
}

const pool = new Pool(vendorUrl, { connections: 1024, pipelining: 1 })

const upstreamIdOf = (answer: object): string => ("id" in answer ? String(answer.id) : "")

const order = (url: string, response: ServerResponse, body: string): void => {
  const id = randomUUID()
  const path = vendorPath(url)
  const isTask = path !== url
  const chunks: Array<Buffer> = []
  let status = 0
  const finish = (): void => {
    const answer = Buffer.concat(chunks)
    const done = (): void => reply(answer)
    if (isTask) {
      move({ kind: "accept", id, upstreamId: upstreamIdOf(JSON.parse(answer.toString())), done })
    } else {
      move({ kind: "capture", id, upstreamId: "", done })
    }
  }
  const reply = (answer: Buffer): void => {
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": answer.length
    })
    response.end(answer)
  }
  const held = (): void =>
    void pool.dispatch(
      { method: "POST", path, headers: vendorHeaders, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_, statusCode) => {
          status = statusCode
        },
        onResponseData: (_, chunk) => void chunks.push(chunk),
        onResponseEnd: finish,
        onResponseError: () => void response.writeHead(502).end()
      }
    )
  move({ kind: isTask ? "hold with task" : "hold", id, upstreamId: "", done: held })
}

createServer((request, response) => {
  const url = request.url ?? "/"
  if (url === "/healthz") return void response.end("ok")
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () =>
    order(url, response, renamed(JSON.parse(Buffer.concat(chunks).toString())))
  )
}).listen(port, "127.0.0.1")
