"""Programs that do more than they seem to: rows of the table in ``programs``."""

from __future__ import annotations

from sayso.dangers.danger import Danger

ROWS = {
    Danger.MONEY: """
        stripe refunds create
        stripe payouts create
        stripe transfers create
        stripe charges create
        stripe payment_intents create
        stripe payment_intents confirm
        stripe payment_intents capture
    """,
    Danger.NETWORK: """
        npx
        bunx
        uvx
        pnpx
        pnpm dlx
        yarn dlx
        bun x
        npm exec
        npm x
        npm create
        pipx run
        uv tool run
        uv run | --with
        pip install | --index-url --extra-index-url -i --trusted-host
        pip3 install | --index-url --extra-index-url -i --trusted-host
        cargo install | --git
        go run | @
        helm install | --repo
        kubectl apply | https:// http://
        kubectl create | https:// http://
        deno run | https:// http://
        deno install | https:// http://
        bash | https:// http://
        sh | https:// http://
        iex
        invoke-expression
    """,
    Danger.HIDDEN_CODE: """
        eval
        powershell | -enc -EncodedCommand -encodedcommand -ec
        pwsh | -enc -EncodedCommand -encodedcommand -ec
    """,
    Danger.PRIVILEGED: """
        docker | --privileged --pid=host --ipc=host --userns=host --net=host --network=host
        docker | --device --security-opt=seccomp=unconfined --security-opt=apparmor=unconfined
        podman | --privileged --pid=host --ipc=host --net=host --network=host --device
        nerdctl | --privileged --pid=host --net=host
        nsenter
        kubectl debug node
        kubectl debug | --profile=sysadmin
        kubectl run | --privileged
    """,
    Danger.ROOT: """
        sudo
        doas
        su
        pkexec
        runas
        gosu
        docker | --user=0 --user=root
    """,
    Danger.SECRETS: """
        gh auth token
        gh secret set
        gcloud auth print-access-token
        aws sts get-session-token
        aws secretsmanager get-secret-value
        aws ssm get-parameter | --with-decryption
        vault read
        vault kv get
        kubectl get secret
        kubectl get secrets
        kubectl create secret
        security find-generic-password
        security dump-keychain
        gpg | --export-secret-keys --export-secret-subkeys
        op read
        op item get
        pass show
        heroku config
    """,
    Danger.SENDS_FILES: """
        nc
        ncat
        netcat
        socat
        scp
        sftp
        rclone copy
        rclone sync
        gh gist create
        aws s3 cp
        gsutil cp
        curl | -T --upload-file
        wget | --post-file --body-file
        croc send
        ngrok
        cloudflared tunnel
    """,
    Danger.PERMISSIONS: """
        chown
        chgrp
        setfacl
        setcap
        chattr
        visudo
        usermod
        useradd
        userdel
        adduser
        deluser
        groupadd
        gpasswd
        passwd
        icacls
        takeown
        csrutil
        setenforce
        ufw
        iptables
        nft
        firewall-cmd
        ssh-copy-id
        aws iam
        aws s3api put-bucket-policy
        aws s3api put-bucket-acl
        aws ec2 authorize-security-group-ingress
        gcloud add-iam-policy-binding
        gcloud set-iam-policy
        az role assignment create
        kubectl create clusterrolebinding
        kubectl create rolebinding
        kubectl create token
        kubectl auth reconcile
        gh repo edit | --visibility
        gh auth login
        gh auth refresh
        npm owner
        npm access
        npm token create
        vault policy write
        vault token create
    """,
    Danger.PUBLISHES: """
        npm publish
        npm unpublish
        npm deprecate
        npm dist-tag add
        pnpm publish
        yarn publish
        yarn npm publish
        bun publish
        jsr publish
        twine upload
        poetry publish
        uv publish
        flit publish
        hatch publish
        cargo publish
        cargo yank
        gem push
        gem yank
        docker push
        podman push
        helm push
        mvn deploy
        gradle publish
        gradlew publish
        goreleaser release
        gh release create
        gh release upload
        gh repo create | --public
        gh gist create | --public -p
        git push | --tags --follow-tags
        vsce publish
        vercel | --prod
        vercel deploy | --prod
        netlify deploy | --prod
        firebase deploy
        wrangler deploy
        wrangler publish
        fly deploy
        flyctl deploy
        surge
        aws s3 cp | --acl=public-read
        huggingface-cli upload
    """,
    Danger.RUNS_LATER: """
        crontab | -e -r -
        at
        systemctl enable
        systemctl link
        launchctl load
        launchctl bootstrap
        schtasks | /create /Create
        systemd-run
        git config | core.hooksPath core.pager core.editor core.fsmonitor core.sshCommand
        husky
        pre-commit install
    """,
    Danger.SKIPS_CHECKS: """
        git commit | --no-verify -n
        git push | --no-verify
        git merge | --no-verify
        git config | http.sslVerify
        git -c http.sslVerify=false
        gh pr merge | --admin
        curl | -k --insecure
        wget | --no-check-certificate
        ssh | StrictHostKeyChecking=no UserKnownHostsFile=/dev/null
        scp | StrictHostKeyChecking=no
        npm install | --force --legacy-peer-deps
        npm config set strict-ssl
        pip install | --break-system-packages
        terraform apply | -auto-approve --auto-approve -lock=false
        tofu apply | -auto-approve --auto-approve
        terragrunt apply | -auto-approve --terragrunt-non-interactive
        pulumi up | -y --yes --skip-preview
        cdk deploy | --require-approval=never
        kubectl apply | --validate=false --force
        helm upgrade | --no-hooks --force
        claude | --dangerously-skip-permissions
        codex | --yolo --dangerously-bypass-approvals-and-sandbox
        docker trust
    """,
}
"""What stands in a row is told in ``programs``."""
