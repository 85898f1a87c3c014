# First code of the payload that runs on the host. Python 3.6, standard library only.
# The caller defines TEXT (sources, each below a line with its path) and INPUT.
# ruff: noqa: F821
import atexit
import collections
import gc
import json
import marshal
import os
import re
import sys
import types
import typing
import zlib
from base64 import b64encode
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER
from operator import itemgetter

# An audit creates few cycles. The collector would take a twelfth of its time.
gc.set_threshold(200000)
SOURCES = dict.fromkeys(("ansible", "ansible.module_utils", "library"), ("", True, ""))
for _source in TEXT.split("\0"):
    _path, _, _text = _source.partition("\n")
    _name, _package, _ = _path[:-3].replace("/", ".").partition(".__init__")
    _above = "" if _name.startswith("library.") else "ansible."
    SOURCES[_above + _name] = (_path, bool(_package), _text)
MARK, REQUEST = json.loads(INPUT.readline().decode("ascii"))
REQUEST["params"] = json.loads(zlib.decompress(INPUT.read()).decode("ascii"))


def compiled():
    """Code that the controller compiled, by path, if host and Python are the same as there."""
    path, magic, digest = REQUEST["compiled"] or ("", "", "")
    if magic != MAGIC_NUMBER.hex():
        return {}
    from hashlib import sha256

    try:
        # The file is untrusted: it is used only if its hash is the requested one.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
            content = stream.read()[32:]
    except OSError:
        return {}
    return marshal.loads(content) if sha256(content).hexdigest() == digest else {}


COMPILED = compiled()
if not COMPILED and not any(_source[2] for _source in SOURCES.values()):
    # The controller sends the sources as well (payload.UNUSABLE).
    sys.exit(76)


class Tuple(tuple):
    """The base of the named tuples."""

    __slots__ = ()

    def __repr__(self):
        values = ", ".join(map("{0}={1!r}".format, self._fields, self))
        return f"{type(self).__name__}({values})"

    def __getnewargs__(self):
        return tuple(self)

    def _asdict(self):
        return collections.OrderedDict(map(lambda *pair: pair, self._fields, self))

    def _replace(self, **values):
        new = tuple.__new__(type(self), map(values.pop, self._fields, self))
        if values:
            raise ValueError(f"Got unexpected field names: {list(values)!r}")
        return new


#: Code that makes a tuple, by its number of fields.
MAKERS = {}


def maker(fields):
    """The code that makes a tuple of these fields. Other names in known code take a thirtieth of
    the time."""
    known = MAKERS.get(len(fields))
    if known is not None:
        return known.replace(co_varnames=("_cls",) + fields)
    names = "".join(field + "," for field in fields)
    code = eval(f"lambda _cls,{names}: _new(_cls,({names}))").__code__
    # Since Python 3.8.
    if hasattr(code, "replace"):
        MAKERS[len(fields)] = code
    return code


class Fields(type):
    """Makes the classes of NamedTuple. Those of Python take two to eight times as long, which was
    a quarter of the time to import all controls, and half of it with Python 3.6."""

    def __new__(cls, name, bases, members):
        if not bases:
            return type.__new__(cls, name, bases, members)
        fields = tuple(members.get("__annotations__", ()))
        defaults = {field: members[field] for field in fields if field in members}
        values = tuple(defaults.values())
        make = types.FunctionType(maker(fields), {"_new": tuple.__new__}, name, values)
        members.update((field, getter(number, None)) for number, field in enumerate(fields))
        members.update(__slots__=(), __new__=make, _fields=fields, _field_defaults=defaults)
        return type.__new__(type, name, (Tuple,), members)


class NamedTuple(metaclass=Fields):
    pass


def getter(number, _text):
    return property(itemgetter(number))


# Python 3.8 has a faster one.
getter = getattr(collections, "_tuplegetter", getter)
# Python 3.14 keeps the annotations of a class in another way.
if sys.version_info < (3, 14):
    typing.NamedTuple = NamedTuple


class Pattern:
    """A regular expression that is compiled when it is used: an audit uses a sixth of those of its
    modules."""

    def __init__(self, pattern, flags):
        self.pattern = pattern
        self.wanted_flags = flags

    def __getattr__(self, name):
        value = getattr(compile_pattern(self.pattern, self.wanted_flags), name)
        # From now on, the name leads there without this function.
        setattr(self, name, value)
        return value


def later(pattern, flags=0):
    """In place of re.compile."""
    caller = sys._getframe(1)
    if caller.f_code.co_name == "<module>" and caller.f_globals["__name__"] in SOURCES:
        return Pattern(pattern, flags)
    return compile_pattern(pattern, flags)


compile_pattern, re.compile = re.compile, later


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name not in SOURCES:
            return None
        return ModuleSpec(name, self, origin=SOURCES[name][0], is_package=SOURCES[name][1])

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path, _, text = SOURCES[module.__name__]
        module.__file__ = path
        code = COMPILED.get(path)
        if code is None:
            code = compile(text, path, "exec", dont_inherit=True)
        else:
            code = marshal.loads(code)
        exec(code, module.__dict__)


class Ended(BaseException):
    pass


class AnsibleModule:
    """What our modules use of the one in ansible.module_utils.basic; arguments are validated."""

    def __init__(self, argument_spec=None, supports_check_mode=False, **_):
        self.params = REQUEST["params"]
        for name, option in (argument_spec or {}).items():
            if option.get("type") == "path" and self.params.get(name) is not None:
                # The home directory and the variables are those of the host.
                path = os.path.expandvars(self.params[name])
                self.params[name] = os.path.expanduser(path)
        self.no_log_values = set()
        self.check_mode = REQUEST["check_mode"]
        self._diff = REQUEST["diff"]

    def exit_json(self, **result):
        raise Ended(result)

    def fail_json(self, msg, **result):
        raise Ended(dict(result, failed=True, msg=msg))


def answer():
    basic = types.ModuleType("ansible.module_utils.basic")
    basic.AnsibleModule = AnsibleModule
    sys.modules[basic.__name__] = basic
    sys.meta_path.insert(0, Finder())
    try:
        __import__("library." + REQUEST["module"])
        sys.modules["library." + REQUEST["module"]].main()
    except Ended as ended:
        return ended.args[0]
    except BaseException as problem:
        import traceback

        message = f"{type(problem).__name__}: {problem}"
        return {"failed": True, "crashed": message, "exception": traceback.format_exc()}
    return {"failed": True, "msg": REQUEST["module"] + " ended without a result"}


def main():
    # Keep output of commands out of the answer, and the rest of the input away from commands.
    out = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    text = json.dumps(answer()).encode("ascii")
    mark = MARK.encode("ascii")
    out.write(b"\n" + mark + b64encode(zlib.compress(text, 6)) + mark + b"\n")
    out.close()
    sys.stderr.flush()
    # The functions remove temporary directories. The process that reads files ends when its
    # connection closes. Python would need a tenth of the time of an audit to remove all modules.
    atexit._run_exitfuncs()
    os._exit(0)


main()
