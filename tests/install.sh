# Sourced by the scripts that a stranger runs: names what is missing, says why, installs it by apt without asking.
missing=()
need_command() { # COMMAND PACKAGE WHY
    command -v "$1" >/dev/null || { missing+=("$2"); echo "missing: $2 ($3)"; }
}
need_package() { # PACKAGE WHY
    command -v dpkg-query >/dev/null || return 0 # not Debian: CMake says what it does not find
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ||
        { missing+=("$1"); echo "missing: $1 ($2)"; }
}
install_missing() {
    [ ${#missing[@]} -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null; then
        echo "Please install the above by your package manager, then run this again." >&2
        return 1
    fi
    local root=()
    if [ "$(id -u)" != 0 ]; then
        root=(sudo -n)
        sudo -n true 2>/dev/null ||
            { echo "Please run: sudo apt-get install ${missing[*]}" >&2; return 1; }
    fi
    echo "installing: ${missing[*]}"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    missing=()
}
need_toolchain() {
    command -v "${CXX:-g++}" >/dev/null || { missing+=(g++); echo "missing: g++ (the compiler)"; }
    need_command cmake cmake "configures the build"
    need_command ninja ninja-build "runs the build"
    need_package libeigen3-dev "the Eigen backend"
    need_package libxsimd-dev "the SIMD backend"
}
