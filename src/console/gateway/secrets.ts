/** Finds out what a key or token gives access to, by requests to the gateway. */
import { type ApiCall, connect } from "./client.ts"
import { failureOf } from "./failures.ts"
import { emptySession, type Session } from "./session.ts"
import { withoutPerson, withPerson } from "./signIn.ts"

const sendWithSession = async <A, E>(session: Session, call: ApiCall<A, E>): Promise<A> => {
  const connection = connect(session)
  try {
    return await connection.send(call)
  } finally {
    connection.end()
  }
}

/**
 * The result of a call; null where the gateway does not know the key or token. Other failures are
 * thrown.
 */
const nullIfUnknown = async <A>(response: Promise<A>): Promise<A | null> => {
  try {
    return await response
  } catch (error) {
    if (failureOf(error).code === "invalid_api_key") return null
    throw error
  }
}

const KEY = /^mg_/

const keyOf = (secret: string): Promise<string | null> =>
  nullIfUnknown(
    sendWithSession({ ...emptySession, apiKey: secret }, (gateway) =>
      gateway.account.readKey({})
    ).then(
      () => secret,
      (error: unknown) => {
        // A key whose organisation or member is disabled is still a valid key.
        if (failureOf(error).code === "permission_denied") return secret
        throw error
      }
    )
  )

const operatorOf = (token: string): Promise<Session["operator"]> =>
  nullIfUnknown(
    sendWithSession({ ...emptySession, operator: { token, name: "", role: "viewer" } }, (gateway) =>
      gateway.operators.readMe({})
    ).then(({ name, role }) => ({ token, name, role }))
  )

/**
 * The session extended by the access that the text gives; null where the text is no valid key or
 * token.
 */
export const withSecret = async (session: Session, secret: string): Promise<Session | null> => {
  const apiKey = KEY.test(secret) ? await keyOf(secret) : null
  if (apiKey !== null) return { ...session, apiKey }
  const operator = await operatorOf(secret)
  return operator === null ? null : { ...session, operator }
}

/** The part of a session that is still valid after the gateway refused a request. */
export const validateSession = async (session: Session): Promise<Session> => {
  const { apiKey, operator } = withoutPerson(session)
  const own: Session = {
    apiKey: apiKey === null ? null : await keyOf(apiKey),
    operator: operator === null ? null : await operatorOf(operator.token)
  }
  return session.person == null ? own : withPerson(own)
}
