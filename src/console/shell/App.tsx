/** The layout around every page: menu, session, language and appearance. */
import { Alert, Anchor, AppShell, Burger, Button, Group, Stack, Title } from "@mantine/core"
import { useDisclosure, useDocumentTitle } from "@mantine/hooks"
import { lazy, useEffect, useRef } from "react"
import { useTranslation } from "react-i18next"
import { Link, Redirect, Route, Switch, useLocation, useSearch } from "wouter"
import { useSession } from "../gateway/hooks.tsx"
import { useIsOnline } from "../gateway/network.ts"
import { isSignedIn } from "../gateway/session.ts"
import { isAt } from "../parts/isAt.ts"
import { Choices } from "./Choices.tsx"
import { Menu } from "./Menu.tsx"
import { movedAddress } from "./movedPages.ts"
import { PageFrame, PageView } from "./PageView.tsx"
import { pages, pagesOf } from "./pages.ts"

// Whoever is signed in does not load it.
const SignInForm = lazy(async () => ({ default: (await import("./SignIn.tsx")).SignIn }))

const SignIn = () => (
  <PageFrame>
    <SignInForm />
  </PageFrame>
)

const MENU_WIDTH = 220
const HEADER_HEIGHT = 56

/** Moves the focus of the keyboard and of screen readers to an opened page. */
const usePageFocus = () => {
  const [location] = useLocation()
  const main = useRef<HTMLElement>(null)
  const lastLocation = useRef(location)
  useEffect(() => {
    if (lastLocation.current === location) return
    lastLocation.current = location
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [location])
  return main
}

const Pages = () => {
  const { t } = useTranslation()
  const { session } = useSession()
  const visiblePages = pagesOf(session)
  const [firstPage] = visiblePages
  // Operators start at their overview, also in a tab that has an API key as well.
  const start = visiblePages.find(({ name }) => name === "overview") ?? firstPage
  return (
    <Switch>
      {visiblePages.map((page) => (
        <Route key={page.path} path={page.path} nest>
          <PageView page={page} />
        </Route>
      ))}
      <Route path="/sign-in">
        <SignIn />
      </Route>
      {start === undefined ? null : (
        <Route path="/">
          <Redirect to={start.path} replace />
        </Route>
      )}
      <Route>
        <Stack align="flex-start">
          <Title order={1}>{t("notFound")}</Title>
          <Button component={Link} href="/">
            {t("home")}
          </Button>
        </Stack>
      </Route>
    </Switch>
  )
}

export const App = () => {
  const { t } = useTranslation()
  const { session, hasEnded } = useSession()
  const isOnline = useIsOnline()
  const [location] = useLocation()
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const main = usePageFocus()
  const open = pages.find(({ path }) => isAt(location, path))
  useDocumentTitle(open === undefined ? t("title") : `${t(`pages.${open.name}`)} · ${t("title")}`)
  const hasSession = isSignedIn(session)
  const search = useSearch()
  const moved = movedAddress(location)
  if (moved !== null) return <Redirect to={search === "" ? moved : `${moved}?${search}`} replace />
  return (
    <>
      <a className="skip" href="#content">
        {t("skip")}
      </a>
      <AppShell
        header={{ height: HEADER_HEIGHT }}
        navbar={{
          width: MENU_WIDTH,
          breakpoint: "sm",
          collapsed: { mobile: !isOpen, desktop: !hasSession }
        }}
        padding="md"
      >
        <AppShell.Header px="md">
          <Group h="100%" justify="space-between" wrap="nowrap">
            <Group gap="sm" wrap="nowrap">
              {hasSession ? (
                <Burger
                  opened={isOpen}
                  onClick={toggle}
                  hiddenFrom="sm"
                  size="sm"
                  aria-label={t("menu")}
                  aria-expanded={isOpen}
                />
              ) : null}
              <Anchor
                component={Link}
                href="/"
                fw={700}
                c="var(--mantine-color-text)"
                underline="never"
              >
                {t("title")}
              </Anchor>
            </Group>
            <Choices />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" style={{ overflowY: "auto" }}>
          {hasSession ? <Menu onPick={close} /> : null}
        </AppShell.Navbar>
        <AppShell.Main id="content" ref={main} tabIndex={-1} style={{ outline: "none" }}>
          {isOnline ? null : (
            <Alert
              variant="filled"
              color="red.9"
              role="status"
              mb="md"
              pos="sticky"
              top="calc(var(--app-shell-header-height) + 8px)"
              style={{ zIndex: "var(--mantine-z-index-app)" }}
            >
              {t("offline")}
            </Alert>
          )}
          {hasSession && hasEnded ? (
            <Alert color="orange" role="status" mb="md">
              {t("signIn.ended")}
            </Alert>
          ) : null}
          {hasSession ? <Pages /> : <SignIn />}
        </AppShell.Main>
      </AppShell>
    </>
  )
}
