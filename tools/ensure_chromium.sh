#!/bin/sh
# Usage: ensure_chromium.sh PYTHON.  Makes sure that playwright runs and finds a Chromium (one on PATH; Debian's package; its
# own download) and, on Debian as root, the fonts they write in.  Without a font, its tests are skipped.
set -eu
python=$1

on_path() {
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null 2>&1 && return 0
  done
  return 1
}

debian_as_root() {  # not Ubuntu, whose chromium package only points to a snap
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && grep -q '^ID=debian' /etc/os-release 2>/dev/null
}

has_font() {
  command -v fc-list >/dev/null 2>&1 && [ -n "$(fc-list "$1" family)" ]
}

if debian_as_root; then
  missing=
  on_path || missing=chromium
  "$python" -m playwright --version >/dev/null 2>&1 || missing="$missing libatomic1"  # for its node
  has_font "WenQuanYi Zen Hei" || missing="$missing fonts-wqy-zenhei"
  has_font "Noto Sans CJK SC" || missing="$missing fonts-noto-cjk"
  has_font "Noto Color Emoji" || missing="$missing fonts-noto-color-emoji"
  has_font "DejaVu Sans" || missing="$missing fonts-dejavu-core"
  if [ -n "$missing" ]; then
    echo "Installing $missing for the browser tests"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends $missing >/dev/null; } ||
      echo "apt-get could not install $missing" >&2
  fi
fi

on_path || "$python" -m playwright install chromium || {
  echo "The browser tests found no Chromium and could not download one.  On Debian, as root:" >&2
  echo "  apt-get install chromium libatomic1 fonts-wqy-zenhei fonts-noto-cjk fonts-noto-color-emoji fonts-dejavu-core" >&2
  echo "The other tests:  .venv/bin/python -m pytest -m 'not browser'" >&2
  exit 1
}
