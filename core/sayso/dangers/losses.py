"""Programs by which something is lost: rows of the table in ``programs``."""

from __future__ import annotations

from sayso.dangers.danger import Danger

ROWS = {
    Danger.DISK: """
        fdisk
        sfdisk
        gdisk
        parted
        wipefs
        blkdiscard
        hdparm
        cryptsetup luksFormat
        cryptsetup erase
        lvremove
        vgremove
        pvremove
        zpool destroy
        zfs destroy
        diskutil eraseDisk
        diskutil eraseVolume
        diskutil partitionDisk
        format-volume
        clear-disk
        diskpart
        mkswap
    """,
    Danger.DROPS_TABLE: """
        dropdb
        mysqladmin drop
        redis-cli flushall
        redis-cli flushdb
        redis-cli FLUSHALL
        redis-cli FLUSHDB
        rails db:drop
        rails db:reset
        rake db:drop
        rake db:reset
        prisma migrate reset
        prisma db push | --force-reset --accept-data-loss
        manage.py flush
        php artisan migrate:fresh
        bq rm
    """,
    Danger.DELETES_FILES: """
        rm
        rmdir
        unlink
        shred
        srm
        rimraf
        trash
        del
        erase
        rd
        remove-item
        ri
        truncate
        git rm
        git clean | -f --force
        find | -delete
        rsync | --delete --delete-after --delete-before --delete-excluded --remove-source-files
        robocopy | /MIR /PURGE /mir /purge
    """,
    Danger.DESTROYS: """
        terraform destroy
        terraform apply | -destroy --destroy
        terraform state rm
        terraform workspace delete
        tofu destroy
        tofu apply | -destroy --destroy
        terragrunt destroy
        terragrunt run-all destroy
        pulumi destroy
        cdk destroy
        sls remove
        serverless remove
        kubectl delete
        kubectl drain
        kubectl replace | --force
        oc delete
        helm uninstall
        helm delete
        docker rm
        docker rmi
        docker volume rm
        docker volume prune
        docker system prune
        docker image prune
        docker container prune
        docker network rm
        docker compose down | -v --volumes --rmi
        docker-compose down | -v --volumes --rmi
        podman rm
        podman rmi
        podman volume rm
        podman system prune
        aws s3 rm
        aws s3 rb
        aws s3 sync | --delete
        gsutil rm
        gsutil rb
        gcloud delete
        gcloud storage rm
        az delete
        az purge
        doctl delete
        heroku apps:destroy
        heroku pg:reset
        fly destroy
        fly apps destroy
        flyctl destroy
        vault delete
        vault kv destroy
        gh repo delete
        gh release delete
        ansible | absent
    """,
    Danger.FORCE_PUSH: """
        git push | -f --force --force-with-lease --force-if-includes --mirror
    """,
    Danger.DISCARDS: """
        git reset | --hard --merge
        git checkout | -f --force
        git checkout .
        git restore
        git switch | -f --force --discard-changes -C
        git stash drop
        git stash clear
        git branch | -D
        git push | -d --delete --prune
        git worktree remove | -f --force
        git update-ref | -d
        git tag | -d --delete
        git gc | --prune
        git reflog expire
        git reflog delete
        hg update | -C --clean
        svn revert
    """,
    Danger.DELETES: """
        gh issue delete
        gh secret delete
        gh run delete
        gh cache delete
        kafka-topics | --delete
        kafka-topics.sh | --delete
        dynamodb delete
        aws dynamodb delete-table
        aws rds delete-db-instance
        influx delete
        crictl rmi
    """,
    Danger.HISTORY: """
        git rebase
        git filter-branch
        git filter-repo
        git commit | --amend
        git replace
        bfg
    """,
    Danger.STOPS: """
        shutdown
        reboot
        halt
        poweroff
        init 0
        init 6
        killall
        pkill
        kill | -9 -KILL -SIGKILL
        stop-computer
        restart-computer
        stop-service
        taskkill
        systemctl stop
        systemctl disable
        systemctl mask
        systemctl restart
        systemctl poweroff
        systemctl reboot
        service stop
        service restart
        launchctl unload
        launchctl bootout
        docker stop
        docker kill
        docker compose down
        docker-compose down
        kubectl scale | --replicas=0
        kubectl rollout restart
        kubectl rollout undo
        kubectl cordon
        heroku ps:stop
        heroku ps:scale
        pm2 delete
        pm2 stop
        pm2 kill
        supervisorctl stop
        aws ec2 stop-instances
        aws ec2 reboot-instances
    """,
}
"""What stands in a row is told in ``programs``."""
