// Runs Lua as Argo CD runs the scripts of its resource customizations: with the libraries package, base and table, and of
// os only the time. Each line of the input is a script with the object that it is about, each line of the output what it returned.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
)

type question struct {
	Script string `json:"script"`
	Object any    `json:"object"`
	// Seconds since 1970: what the script takes for the time.
	Now int64 `json:"now"`
}

type answer struct {
	Returned any    `json:"returned,omitempty"`
	Error    string `json:"error,omitempty"`
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch typed := value.(type) {
	case bool:
		return lua.LBool(typed)
	case float64:
		return lua.LNumber(typed)
	case string:
		return lua.LString(typed)
	case []any:
		table := state.CreateTable(len(typed), 0)
		for _, item := range typed {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(typed))
		for key, item := range typed {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}

// A table with numbers for keys is a list. So is an empty one: Lua does not tell the two apart.
func fromLua(value lua.LValue) (any, error) {
	switch typed := value.(type) {
	case lua.LBool:
		return bool(typed), nil
	case lua.LNumber:
		return float64(typed), nil
	case lua.LString:
		return string(typed), nil
	case *lua.LNilType:
		return nil, nil
	case *lua.LTable:
		return fromTable(typed)
	default:
		return nil, fmt.Errorf("a value of the type %s", value.Type())
	}
}

func fromTable(table *lua.LTable) (any, error) {
	if first, _ := table.Next(lua.LNil); first == lua.LNil || first.Type() == lua.LTNumber {
		list := []any{}
		for i := 1; i <= table.Len(); i++ {
			item, err := fromLua(table.RawGetInt(i))
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	}
	object := map[string]any{}
	var failure error
	table.ForEach(func(key, value lua.LValue) {
		name, isText := key.(lua.LString)
		item, err := fromLua(value)
		if !isText {
			failure = fmt.Errorf("a table with keys of several types")
		} else if err != nil {
			failure = err
		} else {
			object[string(name)] = item
		}
	})
	return object, failure
}

// The time alone, and always the same.
func timeModule(now int64) lua.LGFunction {
	return func(state *lua.LState) int {
		full := lua.NewState()
		defer full.Close()
		date := full.GetField(full.GetGlobal("os"), "date")
		module := state.SetFuncs(state.NewTable(), map[string]lua.LGFunction{
			"time": func(inner *lua.LState) int {
				inner.Push(lua.LNumber(now))
				return 1
			},
			"date": func(inner *lua.LState) int {
				format := inner.OptString(1, "%c")
				inner.Push(date)
				inner.Push(lua.LString(format))
				inner.Push(lua.LNumber(now))
				inner.Call(2, 1)
				return 1
			},
		})
		state.Push(module)
		return 1
	}
}

func run(asked question) (any, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		call := lua.P{Fn: state.NewFunction(open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(name)); err != nil {
			return nil, err
		}
	}
	state.PreloadModule(lua.OsLibName, timeModule(asked.Now))
	limited, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limited)
	state.SetGlobal("obj", toLua(state, asked.Object))
	if err := state.DoString(asked.Script); err != nil {
		return nil, err
	}
	returned := state.Get(-1)
	if returned.Type() != lua.LTTable {
		return nil, fmt.Errorf("a table is to be returned, not a %s", returned.Type())
	}
	return fromLua(returned)
}

func main() {
	time.Local = time.UTC
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		said := answer{}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			said.Error = err.Error()
		} else if returned, err := run(asked); err != nil {
			said.Error = err.Error()
		} else {
			said.Returned = returned
		}
		if err := out.Encode(said); err != nil {
			panic(err)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
