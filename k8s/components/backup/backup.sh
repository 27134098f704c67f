#!/bin/sh
# Backs up and restores the router's Postgres with the programs of Postgres itself (docs/operations/backup.md).
#   backup.sh log                         streams the write-ahead log into the folder until it is stopped
#   backup.sh base                        takes and verifies a base backup, records it, and removes the oldest ones
#   backup.sh restore <folder> [<time>]   fills an empty data folder, so that a Postgres started on it recovers
# Environment:
#   BACKUP_DIR    folder of the backups
#   BACKUP_URL    connection URL of a role with REPLICATION that may call record_backup(); not needed by restore
#   BACKUP_KEEP   how many base backups are kept, with the log since the oldest of them (7)
set -eu

# The gateways and workers report whether the log is streamed by the state of this slot.
slot=model_router_backup

fail() {
  echo "backup.sh: $1" >&2
  exit 1
}

# Postgres runs the restore_command in a shell.
case ${BACKUP_DIR:-} in
  '') fail 'set BACKUP_DIR' ;;
  *[!A-Za-z0-9._/-]*) fail 'BACKUP_DIR may have only letters, digits and the characters ._/-' ;;
  /*) ;;
  *) fail 'BACKUP_DIR must be an absolute path' ;;
esac

# On Debian, some programs are only in the folder of their version.
version=$(pg_basebackup --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
PATH=/usr/lib/postgresql/$version/bin:$PATH

# The names of the base backups, oldest first: the times at which they were complete.
bases() {
  for folder in "$BACKUP_DIR"/base/*Z; do
    [ -d "$folder" ] && basename "$folder"
  done
}

log() {
  mkdir -p "$BACKUP_DIR/wal"
  pg_receivewal --dbname="$BACKUP_URL" --no-password --slot="$slot" --create-slot --if-not-exists
  # Without --synchronous, up to 16 MiB of the log are in no backup.
  exec pg_receivewal --dbname="$BACKUP_URL" --no-password --slot="$slot" --directory="$BACKUP_DIR/wal" --synchronous
}

base() {
  mkdir -p "$BACKUP_DIR/base"
  rm -rf "$BACKUP_DIR"/base/*.partial
  partial="$BACKUP_DIR/base/$(date -u +%Y%m%dT%H%M%SZ).partial"
  pg_basebackup --dbname="$BACKUP_URL" --no-password --pgdata="$partial" --wal-method=stream --checkpoint=fast
  pg_verifybackup --quiet "$partial"
  name=$(date -u +%Y%m%dT%H%M%SZ)
  keep_config "$BACKUP_DIR/config/$name"
  mv "$partial" "$BACKUP_DIR/base/$name"
  bytes=$(($(du -sk "$BACKUP_DIR/base/$name" | cut -f1) * 1024))
  # Recorded last, because the record says that this backup can be restored.
  psql --dbname="$BACKUP_URL" --no-password --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=actor="backup:$(uname -n)" \
    --set=name="$name" --set=bytes="$bytes" >/dev/null <<'SQL'
SELECT record_backup(:'actor', jsonb_build_object('name', :'name', 'bytes', (:'bytes')::bigint));
SQL
  echo "backup.sh: $name is complete and verified, $bytes bytes"
  prune
}

# Keeps what a data folder need not have: the settings without which a server refuses to recover, if its own are smaller than
# those of the server that wrote the log, and the configuration files that this user can read.
keep_config() {
  mkdir -p "$1"
  query "SELECT name || ' = ' || setting FROM pg_settings WHERE name IN
    ('max_connections', 'max_worker_processes', 'max_wal_senders', 'max_prepared_transactions', 'max_locks_per_transaction')" \
    >"$1/least.conf"
  # Empty for a role without pg_read_all_settings.
  query "SELECT setting FROM pg_settings WHERE name IN ('config_file', 'hba_file', 'ident_file')" | while read -r file; do
    [ ! -r "$file" ] || cp "$file" "$1"
  done
}

query() {
  psql --dbname="$BACKUP_URL" --no-password --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 --command="$1"
}

prune() {
  bases | sort -r | tail -n +$((${BACKUP_KEEP:-7} + 1)) | while read -r name; do
    rm -rf "$BACKUP_DIR/base/$name" "$BACKUP_DIR/config/$name"
    echo "backup.sh: removed $name"
  done
  oldest=$(bases | head -n 1)
  first=$(sed -n 's/^START WAL LOCATION: .* (file \(.*\))$/\1/p' "$BACKUP_DIR/base/$oldest/backup_label")
  if [ -d "$BACKUP_DIR/wal" ]; then
    pg_archivecleanup "$BACKUP_DIR/wal" "$first"
  fi
}

restore() {
  to=${1:-}
  time=${2:-}
  [ -n "$to" ] || fail 'name the data folder to fill'
  [ -z "$(ls -A "$to" 2>/dev/null)" ] || fail "$to is not empty"
  case $time in
    '') latest=99999999T999999Z ;;
    [0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z) latest=$(echo "$time" | tr -d ':-') ;;
    *) fail 'give the time as 2026-01-31T12:00:00Z' ;;
  esac
  name=$(bases | while read -r each; do
    [ "$(printf '%s\n%s\n' "$each" "$latest" | sort | head -n 1)" = "$each" ] && echo "$each"
  done | tail -n 1)
  [ -n "$name" ] || fail "no base backup was complete ${time:+by $time }in $BACKUP_DIR/base"
  mkdir -p "$to"
  cp -a "$BACKUP_DIR/base/$name/." "$to"
  pg_verifybackup --quiet "$to"
  chmod 700 "$to"
  config="$BACKUP_DIR/config/$name"
  # Debian keeps these files elsewhere, so a base backup has none. Their paths are those of the old server.
  for file in postgresql.conf pg_hba.conf pg_ident.conf; do
    [ -e "$to/$file" ] || [ ! -e "$config/$file" ] ||
      sed -E '/^ *(data_directory|hba_file|ident_file|external_pid_file|include(_dir|_if_exists)?)[ =]/d' "$config/$file" >"$to/$file"
  done
  {
    [ ! -e "$config/least.conf" ] || cat "$config/least.conf"
    # The last file of the log is incomplete and has another name.
    echo "restore_command = 'cp $BACKUP_DIR/wal/%f %p 2>/dev/null || cp $BACKUP_DIR/wal/%f.partial %p 2>/dev/null'"
    echo "recovery_target_timeline = 'latest'"
    echo "recovery_target_action = 'promote'"
    # An empty value means the end of the log. This setting does not accept the letters of a time zone.
    echo "recovery_target_time = '$(echo "$time" | sed 's/T/ /; s/Z/+00/')'"
  } >>"$to/postgresql.auto.conf"
  touch "$to/recovery.signal"
  echo "backup.sh: $to has the base backup $name. Start Postgres on it as its owner; it recovers to ${time:-the end of the log}"
}

case ${1:-} in
  log | base) "$1" ;;
  restore) restore "${2:-}" "${3:-}" ;;
  *) fail 'usage: backup.sh log | base | restore <folder> [<time>]' ;;
esac
