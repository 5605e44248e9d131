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
import { createContext, type ReactNode, use, useMemo, useRef, useState } from "react"
import { type Ask, type Connection, connect } from "./client.ts"
import { failureOf } from "./failures.ts"
import { stillOpen } from "./secrets.ts"
import { keepSession, keptSession, type Session } from "./session.ts"

interface SessionState {
  readonly session: Session
  /** Whether the session ended because the gateway refused its key or token. */
  readonly hasEnded: boolean
  readonly setSession: (session: Session) => void
  readonly connection: Connection
}

const SessionContext = createContext<SessionState | null>(null)

const held = (session: Session, hasEnded: boolean) => ({
  session,
  hasEnded,
  connection: connect(session)
})

export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const [{ session, hasEnded, connection }, hold] = useState(() => held(keptSession(), false))
  const cache = useQueryClient()
  const state = useMemo(() => {
    const become = (next: Session, ended: boolean): void => {
      keepSession(next)
      connection.end()
      // The cache is cleared, so that one session never sees the data of another.
      cache.clear()
      hold(held(next, ended))
    }
    const ask: Connection["ask"] = async (call, signal) => {
      try {
        return await connection.ask(call, signal)
      } catch (error) {
        if (failureOf(error).code === "invalid_api_key") become(await stillOpen(session), true)
        throw error
      }
    }
    return {
      session,
      hasEnded,
      connection: { ...connection, ask },
      setSession: (next: Session) => become(next, false)
    }
  }, [session, hasEnded, connection, cache])
  return <SessionContext value={state}>{children}</SessionContext>
}

export const useSession = (): SessionState => {
  const state = use(SessionContext)
  if (state === null) throw new Error("useSession is called outside of a SessionProvider")
  return state
}

interface AskOptions {
  /** Whether the call is made at all. */
  readonly when?: boolean
  /** The polling interval in milliseconds, while the page is visible. */
  readonly every?: number | undefined
}

interface FollowOptions<A> extends AskOptions {
  /** Whether polling stops after this response. */
  readonly until?: (answer: A) => boolean
  /** Whether a response stays valid until the tab is closed, for example a name. */
  readonly isKept?: boolean
}

/** The result of a call. `key` is its cache key: first the subject, then the parameters. */
export const useAsk = <A, E>(key: QueryKey, call: Ask<A, E>, options: FollowOptions<A> = {}) => {
  const { connection } = useSession()
  const { every, until } = options
  return useQuery<A>({
    queryKey: key,
    queryFn: ({ signal }) => connection.ask(call, signal),
    enabled: options.when ?? true,
    ...(options.isKept === true ? { staleTime: Number.POSITIVE_INFINITY } : {}),
    ...(every === undefined
      ? {}
      : {
          refetchInterval: ({ state: { data } }) =>
            data !== undefined && until?.(data) === true ? false : every
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

const nextOf = <Entry extends { readonly id: string }>(page: ListPage<Entry>) =>
  page.has_more ? (page.next ?? page.data.at(-1)?.id ?? null) : null

export type After = { readonly after?: string }

/** A list with pagination. `call` gets the cursor for its query. */
export const usePages = <Entry extends { readonly id: string }, Page extends ListPage<Entry>, E>(
  key: QueryKey,
  call: (after: After) => Ask<Page & ListPage<Entry>, E>,
  options: AskOptions = {}
) => {
  const { connection } = useSession()
  return useInfiniteQuery<Page, Error, InfiniteData<Page>, QueryKey, string | null>({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      connection.ask(call(pageParam === null ? {} : { after: pageParam }), signal),
    initialPageParam: null,
    getNextPageParam: (page) => nextOf<Entry>(page),
    enabled: options.when ?? true,
    ...(options.every === undefined ? {} : { refetchInterval: options.every })
  })
}

/**
 * A mutation, after which all queries under the keys `about` are fetched again. While it runs, it
 * is not started a second time, even if its button is pressed again.
 */
export const useDo = <Input, A, E>(
  call: (input: Input) => Ask<A, E>,
  about: ReadonlyArray<QueryKey> = []
) => {
  const { connection } = useSession()
  const cache = useQueryClient()
  const isRunning = useRef(false)
  const mutation = useMutation({
    mutationFn: (input: Input) => connection.ask(call(input)),
    onSuccess: () => Promise.all(about.map((queryKey) => cache.invalidateQueries({ queryKey }))),
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
