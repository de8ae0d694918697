#!/bin/bash
# A fake of docker, apptainer and enroot, selected by the name of the call. It runs commands on this machine without a
# container. As with the real programs, a command "inside" is not a child of the call that started it.
set -u
state=$FAKE_STATE
program=$(basename "$0")
{ printf '%s\0' "$program" "$@"; printf '\036'; } >> "$state/calls"

fail() { echo "$2" >&2; exit "$1"; }
alive() {
  local line
  [ -r "$state/$1.pid" ] && read -r line 2> /dev/null < "/proc/$(< "$state/$1.pid")/stat" && [[ $line != *") Z "* ]]
}
end() {
  alive "$1" && kill -9 -- "-$(< "$state/$1.pid")"
  rm -f "$state/$1.pid" "$state/$1.env" "$state/$1.image"
}

# Parses leading options. The value of a listed option goes to `given_<option>`, variables go to `env`.
env=()
declare -A given=()
options() {
  local valued=" $1 "; shift
  taken=0
  while [[ ${1-} == -* ]]; do
    local name=$1; shift; taken=$((taken + 1))
    if [[ $valued == *" $name "* ]]; then
      given[$name]=$1
      if [[ $name == --env || $name == -e ]]; then env+=("$1"); fi
      shift; taken=$((taken + 1))
    else
      given[$name]=yes
    fi
  done
}

keep_alive() {
  local name=$1; shift
  setsid "$@" &
  echo $! > "$state/$name.pid"
  printf '%s\0' "${env[@]+"${env[@]}"}" > "$state/$name.env"
}

# Runs a command with the variables of the container, then those of the call.
inside() {
  local name=$1; shift
  local inherited=()
  [ -n "$name" ] && mapfile -d '' inherited < "$state/$name.env"
  if [ -n "${directory-}" ]; then cd -- "$directory" || exit 126; fi
  local all=()
  for pair in "${inherited[@]+"${inherited[@]}"}" "${env[@]+"${env[@]}"}"; do [ -n "$pair" ] && all+=("$pair"); done
  setsid --wait env -i PATH="$PATH" "${all[@]+"${all[@]}"}" "$@"
  exit $?
}

container_variables() {
  local pair
  while IFS= read -r -d '' pair; do
    if [[ $pair == APPTAINERENV_* ]]; then env+=("${pair#APPTAINERENV_}"); fi
  done < /proc/self/environ
}

verb=$1; shift
case "$program $verb" in
  "docker run")
    options "--name --label -w --env --cpus --memory --memory-swap --gpus --network --cap-drop --security-opt --pids-limit --publish -v --entrypoint" "$@"
    shift $taken
    image=$1; shift
    name=${given[--name]}
    case $image in
      missing*) fail 125 "Unable to find image '$image' locally" ;;
      hangs*) sleep 100 ;;
    esac
    keep_alive "$name" "${given[--entrypoint]}" "$@" > /dev/null 2>&1
    echo "$image" > "$state/$name.image"
    echo "$name" ;;
  "docker info") echo 28.0.0 ;;
  "docker image")
    case ${!#} in
      missing*) fail 1 "Error: No such image: ${!#}" ;;
      remote*) [ -e "$state/pulled" ] || fail 1 "Error: No such image: ${!#}" ;;
    esac
    echo sha256:0 ;;
  "docker pull")
    image=${!#}
    case $image in missing*) fail 1 "manifest for $image not found" ;; esac
    sleep 0.3
    touch "$state/pulled" ;;
  "docker ps")
    for file in "$state"/*.pid; do
      [ -e "$file" ] || continue
      name=$(basename "$file" .pid)
      printf '%s\t%s, Up 1 second\n' "$name" "$(cat "$state/$name.image" 2> /dev/null)"
    done ;;
  "docker exec")
    options "-w --env --user" "$@"; shift $taken
    name=$1; shift
    [ -e "$state/$name.pid" ] || fail 1 "Error response from daemon: No such container: $name"
    alive "$name" || fail 1 "Error response from daemon: container $name is not running"
    case $(< "$state/$name.image") in
      broken*) fail 126 "cannot exec" ;;
      nobash*) [ "$*" = "sh -c command -v bash" ] && exit 127 ;;
    esac
    directory=${given[-w]-}
    inside "$name" "$@" ;;
  "docker inspect")
    name=${!#}
    [ -e "$state/$name.pid" ] || fail 1 "Error: No such object: $name"
    if alive "$name"; then echo running; else echo exited; fi ;;
  "docker port")
    [ -e "$state/$1.pid" ] || fail 1 "Error response from daemon: No such container: $1"
    printf '0.0.0.0:49153\n127.0.0.1:49154\n[::]:49153\n' ;;
  "docker rm")
    name=${!#}
    [ -e "$state/$name.pid" ] || fail 1 "Error response from daemon: No such container: $name"
    end "$name" ;;
  "apptainer instance")
    verb=$1; shift
    case $verb in
      start)
        options "--bind --cpus --memory --network --no-mount" "$@"; shift $taken
        case $1 in *missing*) fail 255 "FATAL: could not open image $1" ;; esac
        container_variables
        # Like the real program, it leaves a process behind that keeps its output open.
        keep_alive "$2" sleep 1000 ;;
      list)
        if [ $# = 1 ]; then
          names=; for file in "$state"/*.pid; do names+="{\"instance\": \"$(basename "$file" .pid)\", \"img\": \"i.sif\"},"; done
          echo "{\"instances\": [${names%,}]}"
          exit 0
        fi
        name=${!#}
        if alive "$name"; then echo "{\"instances\": [{\"instance\": \"$name\"}]}"; else echo '{"instances": []}'; fi ;;
      stop)
        [ -e "$state/$1.pid" ] || fail 255 "FATAL: no instance found with name $1"
        end "$1" ;;
    esac ;;
  "apptainer exec")
    options "--pwd" "$@"; shift $taken
    name=${1#instance://}; shift
    alive "$name" || fail 255 "FATAL: no instance found with that name"
    directory=${given[--pwd]-}
    container_variables
    inside "$name" "$@" ;;
  "enroot import")
    options "-o" "$@"; shift $taken
    case $1 in
      *missing*) fail 1 "[ERROR] could not fetch the image" ;;
      *slow*)
        echo $$ > "$state/import.pid"
        until [ -e "$state/go" ]; do sleep 0.02; done ;;
    esac
    echo "$1" > "${given[-o]}" ;;
  "enroot create")
    options "-n" "$@"
    mkdir "$ENROOT_DATA_PATH/${given[-n]}" ;;
  "enroot start")
    options "-m -e --rc" "$@"; shift $taken
    name=$1; shift
    [ "${env[0]-}" = "FAIL=1" ] && fail 1 "[ERROR] no such thing"
    keep_alive "$name" "$@"
    wait ;;
  "enroot list")
    echo "NAME PID COMM STATE"
    for entry in "$ENROOT_DATA_PATH"/*; do
      name=$(basename "$entry")
      pid=; [ -s "$state/$name.pid" ] && pid=$(< "$state/$name.pid")
      echo "$name $pid"
    done ;;
  "enroot exec")
    options "-e" "$@"; shift $taken
    shift
    inside "" "$@" ;;
  "enroot remove")
    name=${!#}
    [ -d "$ENROOT_DATA_PATH/$name" ] || fail 1 "[ERROR] No such file or directory: $name"
    end "$name"
    rmdir "$ENROOT_DATA_PATH/$name" ;;
  *) fail 64 "unknown command $program $verb" ;;
esac
