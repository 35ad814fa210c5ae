"""A hall of readers: several processes of the course behind nginx.

Reading order:

    settings.env   the one file of settings
    settings       what it says, read and checked
    nginx          nginx's configuration, from `nginx.conf.template` and `proxy.conf`
    hall           all of it on one machine, in the foreground: `make hall`

`llm-serving@.service` and `llm-serving.target` do the same for good, under systemd; `roll.sh`
restarts their processes one after another.
"""
