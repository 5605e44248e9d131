/** How components ask the gateway: through the session of this tab, and what was asked is kept. */
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
  /** Whether the gateway refused what this tab was signed in with. */
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
      // What one session has seen is not another's.
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
  /** Whether to ask at all. */
  readonly when?: boolean
  /** Milliseconds after which it is asked again while the page is looked at. */
  readonly every?: number | undefined
}

interface FollowOptions<A> extends AskOptions {
  /** From which answer on it is not asked again by itself. */
  readonly until?: (answer: A) => boolean
  /** Whether what was answered once is good for as long as the tab is open, such as a name. */
  readonly isKept?: boolean
}

/** What one call answers. `key` is its address in the cache: what it is about, then what it is asked by. */
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

/** A page of any list of the gateway. */
export interface ListPage<Entry> {
  readonly data: ReadonlyArray<Entry>
  readonly has_more: boolean
  /** Where the list tells it; else the last entry's id is where the next page goes on. */
  readonly next?: string | null
}

const nextOf = <Entry extends { readonly id: string }>(page: ListPage<Entry>) =>
  page.has_more ? (page.next ?? page.data.at(-1)?.id ?? null) : null

export type After = { readonly after?: string }

/** A list, page by page. `call` gets the cursor to put into its query. */
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
 * Something that is done once, after which what was known of `about` is asked again. While it runs it
 * is not begun again, however often it is pressed.
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
    // What is shown as running is shown a moment after it began.
    if (isRunning.current) return
    isRunning.current = true
    mutation.mutate(...input)
  }
  return { ...mutation, mutate }
}
