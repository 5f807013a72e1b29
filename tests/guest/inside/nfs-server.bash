# shellcheck shell=bash
# The kernel's NFS server, for the scripts that run in the guest.

# NAME[:OPTION] is the directory /srv/NAME.
server_starts() { # NAME[:OPTION]...
	local name

	mkdir -p /var/lib/nfs/rpc_pipefs
	modprobe nfsd
	mount -t nfsd nfsd /proc/fs/nfsd
	mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs
	rpcbind -w
	rpc.statd --no-notify
	for name in "$@"; do
		export_of "${name%%:*}" "$(expr "$name" : '.*:\(.*\)')"
	done >/etc/exports
	exportfs -ra
	rpc.mountd
	server_up
}

exported=0
export_of() { # NAME [OPTION]
	exported=$((exported + 1))
	echo "/srv/$1 *(rw,sync,no_subtree_check,no_root_squash,insecure,fsid=$exported${2:+,$2})"
}

# Clients that were there before are not waited for.
server_up() {
	rpc.nfsd 4
	echo Y >/proc/fs/nfsd/v4_end_grace
}

server_down() {
	rpc.nfsd 0
}
