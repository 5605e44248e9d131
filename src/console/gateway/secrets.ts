/** What a text opens, if anything: the gateway itself is asked. */
import { type Ask, connect } from "./client.ts"
import { failureOf } from "./failures.ts"
import { type Session, signedOut } from "./session.ts"

const once = async <A, E>(session: Session, call: Ask<A, E>): Promise<A> => {
  const connection = connect(session)
  try {
    return await connection.ask(call)
  } finally {
    connection.end()
  }
}

/** Null where the gateway knows it not; other failures are thrown. */
const orNull = async <A>(asked: Promise<A>): Promise<A | null> => {
  try {
    return await asked
  } catch (error) {
    if (failureOf(error).code === "invalid_api_key") return null
    throw error
  }
}

const KEY = /^mg_/

const keyOf = (secret: string): Promise<string | null> =>
  orNull(
    once({ ...signedOut, apiKey: secret }, (gateway) => gateway.account.readKey({})).then(
      () => secret,
      (error: unknown) => {
        // A key whose organisation or member is disabled is a key all the same.
        if (failureOf(error).code === "permission_denied") return secret
        throw error
      }
    )
  )

const operatorOf = (token: string): Promise<Session["operator"]> =>
  orNull(
    once({ ...signedOut, operator: { token, name: "", role: "viewer" } }, (gateway) =>
      gateway.operators.readMe({})
    ).then(({ name, role }) => ({ token, name, role }))
  )

/** The session with what the text opens beside it; null where it opens nothing. */
export const withSecret = async (session: Session, secret: string): Promise<Session | null> => {
  const apiKey = KEY.test(secret) ? await keyOf(secret) : null
  if (apiKey !== null) return { ...session, apiKey }
  const operator = await operatorOf(secret)
  return operator === null ? null : { ...session, operator }
}

/** What is left of a session of which something was refused. */
export const stillOpen = async ({ apiKey, operator }: Session): Promise<Session> => ({
  apiKey: apiKey === null ? null : await keyOf(apiKey),
  operator: operator === null ? null : await operatorOf(operator.token)
})
