/** The audit: the gateway recomputes every invariant of the ledger from its rows. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core"
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react"
import { Duration, Effect } from "effect"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { RowTable } from "../../parts/DataTable.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { Id, Timestamp } from "../../parts/texts.tsx"

export const Verify = () => {
  const { t } = useTranslation("books")
  // The audit runs only on request, because it reads all rows. Its last result in this tab stays
  // visible.
  const verification = useApiQuery(
    ["books", "verified"],
    (gateway) =>
      Effect.map(Effect.timed(gateway.admin.verifyLedger({})), ([took, answer]) => ({
        ...answer,
        millis: Math.round(Duration.toMillis(took)),
        at: new Date().toISOString()
      })),
    { isEnabled: false }
  )
  const { data } = verification
  return (
    <Stack>
      <Text c="dimmed">{t("verify.lead")}</Text>
      <Group>
        <Button loading={verification.isFetching} onClick={() => void verification.refetch()}>
          {t("verify.go")}
        </Button>
      </Group>
      {verification.isError ? <FailureNote error={verification.error} /> : null}
      {data === undefined ? null : (
        <>
          <Alert
            color={data.ok ? "green" : "red"}
            icon={data.ok ? <IconCircleCheck /> : <IconAlertTriangle />}
            title={data.ok ? t("verify.ok") : t("verify.broken", { count: data.violations.length })}
            role="status"
          >
            {t("verify.took", { millis: data.millis })} <Timestamp at={data.at} />
          </Alert>
          {data.violations.length === 0 ? null : (
            <RowTable
              label={t("verify.violations")}
              rows={data.violations}
              columns={[
                {
                  name: "invariant",
                  label: t("verify.invariant"),
                  cell: ({ invariant }) => invariant
                },
                {
                  name: "organization",
                  label: t("verify.organization"),
                  cell: (row) => <Id id={row.organization_id} />
                },
                {
                  name: "subject",
                  label: t("verify.subject"),
                  cell: ({ subject }) => <Id id={subject} />
                },
                {
                  name: "detail",
                  label: t("verify.detail"),
                  cell: ({ detail }) => <span className="said">{detail}</span>
                }
              ]}
            />
          )}
        </>
      )}
    </Stack>
  )
}
