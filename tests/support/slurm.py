"""A one-node Slurm on this machine, from the distribution's programs: munged, slurmctld and slurmd, with all
files in one folder and ports of their own. The node claims as many processors as the test requests.

    with Slurm(processors=4) as slurm:
        subprocess.run(["sbatch", ...], env=slurm.environment)

Unavailable says why there is no Slurm: programs are missing, the user is not root, or a daemon does not start.
"""
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

DAEMONS = {name: shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
           for name in ["munged", "mungekey", "slurmctld", "slurmd"]}
COMMANDS = ["sbatch", "srun", "squeue", "scontrol", "sinfo"]

LOOK = 30  # seconds, a constant of slurmctld

CONFIGURATION = """\
ClusterName=gpumc
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldDebug=debug2
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdSpoolDir={folder}/spool
StateSaveLocation={folder}/state
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
KillWait=5
OverTimeLimit=0
MinJobAge=600
MaxArraySize=1001
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} RealMemory=1000 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=60 DefMemPerCPU=0 State=UP
"""


class Unavailable(Exception):
    """Slurm cannot be started here; the text says why."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


class Slurm:
    """`processors`: how many the node claims to have; `at_once`: how many of the machine's processors its jobs may
    use."""

    def __init__(self, processors=2, at_once=None):
        self.processors = processors
        self.usable = sorted(os.sched_getaffinity(0))[:at_once]
        self.daemons = []  # in the order of their start

    def __enter__(self):
        missing = [name for name, path in DAEMONS.items() if path is None]
        missing += [name for name in COMMANDS if shutil.which(name) is None]
        if missing:
            raise Unavailable(f"not installed: {', '.join(missing)}")
        if getpass.getuser() != "root" or os.geteuid() != 0:
            raise Unavailable("the daemons of Slurm need root")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpumc-slurm-"))
        self.environment = {**{name: value for name, value in os.environ.items() if not name.startswith("SLURM_")},
                            "SLURM_CONF": str(self.folder / "slurm.conf")}
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        for name in ["spool", "state", "munge"]:
            (self.folder / name).mkdir(mode=0o755)
        self.folder.chmod(0o755)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], controller_port=free_port(), node_port=free_port(),
            folder=self.folder, processors=self.processors))
        munge = self.folder / "munge"
        subprocess.run([DAEMONS["mungekey"], "--create", "--keyfile", munge / "key"], check=True)
        self.daemon("munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                    f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.require("munged", (munge / "socket").exists)
        self.daemon("slurmctld", "-D", "-i", "-f", self.folder / "slurm.conf")
        self.require("slurmctld", lambda: self.run("scontrol", "ping").returncode == 0)
        self.daemon("slurmd", "-D", "-f", self.folder / "slurm.conf")
        self.require("slurmd", lambda: self.run("sinfo", "-h", "-o", "%t").stdout.strip() == "idle")

    def daemon(self, name, *arguments):
        with open(self.folder / f"{name}.out", "w") as output:
            self.daemons.append(subprocess.Popen(
                [DAEMONS[name], *map(str, arguments)], stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                env=self.environment, start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, self.usable)))

    def require(self, name, condition):
        process = self.daemons[-1]
        if wait_until(lambda: process.poll() is not None or condition(), 60) and process.poll() is None:
            return
        said = (self.folder / f"{name}.out").read_text().strip().splitlines()
        raise Unavailable(f"{name} does not start here: {' | '.join(said[-3:]) or 'no message'}")

    def looks(self):
        """Returns how often slurmctld has checked time limits, which it does every LOOK seconds."""
        return (self.folder / "slurmctld.log").read_text().count("Testing job time limits")

    def wait_until_before_a_look(self, seconds):
        """Waits until this many seconds before slurmctld next checks time limits."""
        before = self.looks()
        wait_until(lambda: self.looks() > before, 2 * LOOK)
        time.sleep(LOOK - seconds)

    def messages(self):
        """Returns the daemons' last lines."""
        return "\n".join(line for name in ["slurmctld", "slurmd"]
                         for line in (self.folder / f"{name}.log").read_text().splitlines()[-20:])

    def run(self, *command, **options):
        """Returns a finished process of a command such as squeue, with its output."""
        return subprocess.run([str(word) for word in command], env=self.environment, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60, **options)

    def __exit__(self, *_):
        if self.daemons:
            self.run("scancel", "--full", "--state=RUNNING", "--user=root")
        for process in reversed(self.daemons):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
