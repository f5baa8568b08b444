#!/usr/bin/env bash
# contracts.sh SOURCE: each sentence of a public header with "must" has its sp_require() in the function that it stands
# above, in the same words; each sp_require() has its sentence. Of several functions under one comment one does.
set -u
cd "$1" || exit 2
said=$(awk 'BEGIN { RS = "/\\*" }
  { comment = $0; if (!sub(/\*\/.*/, "", comment)) next
    code = substr($0, length(comment) + 3); functions = ""
    while (match(code, /sp_[a-z0-9_]+\(/)) {
      functions = functions " " substr(code, RSTART, RLENGTH - 1); code = substr(code, RSTART + RLENGTH) }
    gsub(/\n[ ]*\*?[ ]*/, " ", comment); gsub(/[ ]+/, " ", comment)
    n = split(comment, sentence, /[.] /)
    for (i = 1; i <= n; i++) {
      gsub(/^ | $|[.]$/, "", sentence[i])
      if (sentence[i] ~ /(^|[^a-z])must([^a-z]|$)/)
        print tolower(substr(sentence[i], 1, 1)) substr(sentence[i], 2) "|" functions
    } }' include/scaleplan/*.h)
checked=$(find src/core -name '*.c' -exec awk '
  /^[a-z].*[ *][a-z0-9_]+\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
  /sp_require\(/ { asked = "" ; on = 1 }
  on { asked = asked $0 }
  on && /;$/ { on = 0; sub(/"\);$/, "", asked); sub(/.*"/, "", asked); print asked "|" name }' {} +)
failed=0
while IFS='|' read -r sentence functions; do
  found=0
  for function in $functions; do
    grep -qxF "$sentence|$function" <<<"$checked" && found=1
  done
  [ $found = 1 ] || { echo "a header says \"$sentence\" of$functions: no sp_require() says so"; failed=1; }
done <<<"$said"
while IFS='|' read -r sentence function; do
  awk -F'|' -v s="$sentence" -v f="$function" '$1 == s && index($2 " ", " " f " ") { found = 1 } END { exit !found }' <<<"$said" ||
    { echo "$function requires \"$sentence\": its header does not say so"; failed=1; }
done <<<"$checked"
n=$(wc -l <<<"$checked")
[ "$n" -ge 20 ] || { echo "only $n contracts found"; failed=1; }
[ $failed = 0 ] && echo "$n contracts are said and checked"
exit $failed
