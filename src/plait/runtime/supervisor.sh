# The supervisor of one attempt. Run as: sh -c TEXT plait-warden FOLDER WORKSPACE SIGNATURE COMMAND…
# No external command in here: each would cost as much as all the rest. Names begin with plait_ so that none of the
# command's own variables is touched.

# bash takes options from the environment (SHELLOPTS).
set +efux

# A handler, not "ignore": what the command inherits is the default.
trap : HUP INT QUIT TERM

# The process that creates the claim owns the attempt. Disk space for the exit status is reserved before anything runs.
plait_mine=''
set -C
if ! {
  { plait_mine=1; printf '%s\n' "$$ $3"; } >"$1/claim" && printf '    ' >"$1/exit"
} 2>/dev/null; then
  [ -z "$plait_mine" ] && [ -e "$1/claim" ] && exit 75
  exit 74
fi
set +C

plait_folder=$1
if command cd -- "$2"; then
  shift 3
  # A path is run straight away, which is quicker. A name may be a builtin's: exec makes a command of it all the same.
  case $1 in
    */*) "$@" ;;
    *) (exec "$@") ;;
  esac
  plait_code=$?
else
  plait_code=126
fi

# Four bytes over four blanks, in one write: no mixture of old and new is a status.
printf '%03d\n' "$plait_code" 1<>"$plait_folder/exit"
exit 0
