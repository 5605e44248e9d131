/**
 * Hooks by which components call the gateway through the session of this tab. Responses are cached.
 */
import {
  type InfiniteData,
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient
} from "@tanstack/react-query"
import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from "react"
import { type ApiCall, type Connection, connect } from "./client.ts"
import { failureOf } from "./failures.ts"
import { validateSession } from "./secrets.ts"
import { emptySession, readSession, type Session, storeSession } from "./session.ts"
import { endPersonSession } from "./signIn.ts"
import { connectTabs, signOutOtherTabs } from "./tabs.ts"

interface SessionState {
  readonly session: Session
  /** Whether the session ended because the gateway refused its key or token. */
  readonly hasEnded: boolean
  readonly setSession: (session: Session) => void
  /** Ends the session in this tab, and in every other tab that has it. */
  readonly signOut: () => void
  readonly connection: Connection
}

const SessionContext = createContext<SessionState | null>(null)

const stateOf = (session: Session, hasEnded: boolean) => ({
  session,
  hasEnded,
  connection: connect(session)
})

export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const [{ session, hasEnded, connection }, setState] = useState(() =>
    stateOf(readSession(), false)
  )
  const cache = useQueryClient()
  const state = useMemo(() => {
    const changeSession = (nextSession: Session, ended: boolean): void => {
      storeSession(nextSession)
      connection.end()
      // The cache is cleared, so that one session never sees the data of another.
      cache.clear()
      setState(stateOf(nextSession, ended))
    }
    const send: Connection["send"] = async (call, signal) => {
      try {
        return await connection.send(call, signal)
      } catch (error) {
        if (failureOf(error).code === "invalid_api_key")
          changeSession(await validateSession(session), true)
        throw error
      }
    }
    return {
      session,
      hasEnded,
      connection: { ...connection, send },
      setSession: (nextSession: Session) => changeSession(nextSession, false),
      signOut: () => {
        signOutOtherTabs(session)
        changeSession(emptySession, false)
        if (session.person == null) return
        endPersonSession(session).then(
          (address) => {
            if (address !== null) window.location.assign(address)
          },
          // The session has ended, or ends by itself.
          () => undefined
        )
      }
    }
  }, [session, hasEnded, connection, cache])
  useEffect(() => connectTabs(state.session, state.setSession), [state])
  return <SessionContext value={state}>{children}</SessionContext>
}

export const useSession = (): SessionState => {
  const state = use(SessionContext)
  if (state === null) throw new Error("useSession is called outside of a SessionProvider")
  return state
}

interface CallOptions {
  /** Whether the call is made at all. */
  readonly isEnabled?: boolean
  /** The polling interval in milliseconds, while the page is visible. */
  readonly intervalMillis?: number | undefined
}

interface QueryOptions<A> extends CallOptions {
  /** Whether polling stops after this response. */
  readonly isFinal?: (answer: A) => boolean
  /** Whether a response stays valid until the tab is closed, for example a name. */
  readonly isImmutable?: boolean
}

/** The result of a call. `key` is its cache key: first the subject, then the parameters. */
export const useApiQuery = <A, E>(
  key: QueryKey,
  call: ApiCall<A, E>,
  options: QueryOptions<A> = {}
) => {
  const { connection } = useSession()
  const { intervalMillis, isFinal } = options
  return useQuery<A>({
    queryKey: key,
    queryFn: ({ signal }) => connection.send(call, signal),
    enabled: options.isEnabled ?? true,
    ...(options.isImmutable === true
      ? { staleTime: Number.POSITIVE_INFINITY, refetchOnReconnect: false }
      : {}),
    ...(intervalMillis === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data } }) =>
            data !== undefined && isFinal?.(data) === true ? false : intervalMillis
        })
  })
}

/** One page of a list. */
export interface ListPage<Entry> {
  readonly data: ReadonlyArray<Entry>
  readonly has_more: boolean
  /**
   * The cursor of the next page, where the list returns one; otherwise the id of the last entry is
   * the cursor.
   */
  readonly next?: string | null
}

const nextCursorOf = <Entry extends { readonly id: string }>(page: ListPage<Entry>) =>
  page.has_more ? (page.next ?? page.data.at(-1)?.id ?? null) : null

export type PageCursor = { readonly after?: string }

/** A list with pagination. `call` gets the cursor for its query. */
export const usePages = <Entry extends { readonly id: string }, Page extends ListPage<Entry>, E>(
  key: QueryKey,
  call: (after: PageCursor) => ApiCall<Page & ListPage<Entry>, E>,
  options: CallOptions = {}
) => {
  const { connection } = useSession()
  return useInfiniteQuery<Page, Error, InfiniteData<Page>, QueryKey, string | null>({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      connection.send(call(pageParam === null ? {} : { after: pageParam }), signal),
    initialPageParam: null,
    getNextPageParam: (page) => nextCursorOf<Entry>(page),
    enabled: options.isEnabled ?? true,
    ...(options.intervalMillis === undefined ? {} : { refetchInterval: options.intervalMillis })
  })
}

/**
 * A mutation, after which all queries under the keys `about` are fetched again. While it runs, it
 * is not started a second time, even if its button is pressed again.
 */
export const useApiMutation = <Input, A, E>(
  call: (input: Input) => ApiCall<A, E>,
  staleKeys: ReadonlyArray<QueryKey> = []
) => {
  const { connection } = useSession()
  const cache = useQueryClient()
  const isRunning = useRef(false)
  const mutation = useMutation({
    mutationFn: (input: Input) => connection.send(call(input)),
    onSuccess: () =>
      Promise.all(staleKeys.map((queryKey) => cache.invalidateQueries({ queryKey }))),
    onSettled: () => {
      isRunning.current = false
    }
  })
  const mutate: typeof mutation.mutate = (...input) => {
    // `mutation.isPending` becomes true only after a moment, so a ref prevents a second start.
    if (isRunning.current) return
    isRunning.current = true
    mutation.mutate(...input)
  }
  return { ...mutation, mutate }
}
